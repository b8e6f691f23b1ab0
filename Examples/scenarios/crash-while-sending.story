# A device dies after the service took its records and before it knew.
story A crash between sending and knowing

entity Note: title text
devices Ann, Ben

Ann inserts Note n with title "Milk"
Ann inserts Note m with title "Bread"
Ann crashes in the next sync
Ann syncs
expect n is there on the service
Ben syncs
Ben sets n.title to "Oat milk"
Ben syncs
everyone settles

expect n.title is "Oat milk"
expect 2 Note
expect nothing was logged
expect everyone agrees
