package native

// League bounds the teams and threads of a target region.
type League struct {
	Threads int // maximum number of threads of a parallel region without a num_threads clause; at least 1
	Teams   int // maximum number of teams of a teams region without a num_teams clause; 0 for the run time's default
	Limit   int // maximum number of threads of a team, whatever the clauses of the region say; 0 for none
}
