# Two people type into one text. Both insertions are there, in one order on all devices.
story Typed by two

entity Note: title text text
devices Ann, Ben

Ann inserts Note n with title "milk and bread"
everyone settles

Ann sets n.title to "oat milk and bread"
Ben sets n.title to "milk and rye bread"
Ann syncs
Ben syncs
everyone settles

expect n.title is "oat milk and rye bread"
expect n.title was logged by text on Ben
expect everyone agrees
