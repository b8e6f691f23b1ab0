# One device deletes what another edits. The deletion wins; what was lost is in the log.
story Delete against edit

entity Note: title text
devices Ann, Ben

Ann inserts Note n with title "Draft"
everyone settles

Ann deletes n
Ben sets n.title to "Final"
Ann syncs
Ben syncs
everyone settles

expect n is gone
expect n is gone on the service
expect n was logged by deleteWins on Ben
expect everyone agrees
