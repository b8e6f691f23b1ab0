# A rule of the model holds on each device before anything is sent.
story What the model refuses

entity Note: title text required
devices Ann, Ben

Ann inserts Note n with title "Milk"
everyone settles
Ben clears n.title
expect it was refused
everyone settles

expect n.title is "Milk"
expect everyone agrees
