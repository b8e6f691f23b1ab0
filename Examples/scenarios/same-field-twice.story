# Two devices change one field. The device that merges keeps its own value, and logs the other.
story The same field on two devices

entity Note: title text
devices Ann, Ben

Ann inserts Note n with title "Milk"
everyone settles

Ann sets n.title to "Milk and bread"
Ben sets n.title to "Oat milk"
Ann syncs
Ben syncs        # meets Ann's value, and merges
everyone settles

expect n.title is "Oat milk"
expect n.title was logged by local on Ben
expect everyone agrees
