package native

// League bounds the threads of a target region.
type League struct {
	Threads int // most threads of a parallel region without a clause
	Teams   int // most teams of a teams region without a num_teams clause; 0: the run time's default
	Limit   int // most threads of a team, also of clauses; 0: none
}
