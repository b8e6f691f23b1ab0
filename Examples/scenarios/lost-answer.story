# The service took an edit, and its answer was lost. The device asks, and counts nothing twice.
story A lost answer

entity Note: title text, views integer counter
devices Ann, Ben

Ann inserts Note n with title "Milk", views 1
everyone settles

Ann adds 1 to n.views
Ann loses the next answer
Ann syncs
Ben adds 1 to n.views
everyone settles

expect n.views is 3
expect everyone agrees
