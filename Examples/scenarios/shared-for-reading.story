story A reader's edit is refused, and not lost

entity Note: title text, words text
devices Phone
devices Tablet of Ben

Phone inserts Note n with title "Plan", words "First"
Phone syncs
Phone shares n as plan
Phone invites Ben to plan for reading
Tablet accepts plan
expect n.title is "Plan" on Tablet

# Ben may not write. His edit stays, and what Ann writes still comes.
Tablet sets n.title to "Better plan"
Tablet syncs
expect it told "1 refused by the service"
expect Tablet is not in sync
Phone sets n.words to "Second"
everyone syncs
everyone syncs
expect n.words is "Second"
expect n.title is "Better plan" on Tablet
expect n.title is "Plan" on Phone and the service

# A reader changes no share either.
Tablet invites Ben to plan
expect it was refused

# With the permission it goes by itself.
Phone invites Ben to plan for writing
everyone settles
expect n.title is "Better plan"
expect everyone is in sync
expect everyone agrees

# Who leaves keeps nothing, and takes nothing away.
Tablet leaves plan
expect 0 Note on Tablet
expect n.title is "Better plan" on Phone
