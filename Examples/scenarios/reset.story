# A device forgets its service and starts over. Edits that waited are kept, nothing comes twice.
story A reset with edits that wait

entity Note: title text
devices Ann, Ben

Ann inserts Note n with title "Milk"
Ann inserts Note m with title "Bread"
everyone settles

Ann sets n.title to "Oat milk"
Ann deletes m
Ben inserts Note o with title "Salt"
Ann resets
everyone settles

expect n.title is "Oat milk"
expect m is gone
expect o is there
expect 2 Note
expect everyone agrees
