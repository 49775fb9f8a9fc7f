package native

// League bounds the threads of a target region.
type League struct {
	Threads int // maximum number of threads of a parallel region without a num_threads clause
	Teams   int // maximum number of teams of a teams region without a num_teams clause; 0 for the run time's default
	Limit   int // maximum number of threads of a team, also with a clause; 0 for none
}
