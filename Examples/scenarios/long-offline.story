# A device was away for half a year. Its edits count, and so do all of the others'.
story Half a year offline

entity Note: title text, body text
devices Ann, Ben

Ann inserts Note a with title "One", body "first"
Ann inserts Note b with title "Two"
Ann inserts Note c with title "Three"
everyone settles

Ben goes offline
Ben sets a.title to "Ben's one"
Ben inserts Note d with title "From the boat"
26 weeks pass
Ann sets a.body to "second"
Ann deletes b
Ann sets c.title to "3"
everyone syncs
expect Ben is not in sync
Ben comes online
everyone settles

expect a.title is "Ben's one"
expect a.body is "second"
expect b is gone
expect c.title is "3"
expect d is there
expect nothing was logged
expect everyone agrees
