# Under the rule error a conflict waits. The object is held back until somebody decides.
story A conflict kept for a decision

policy error
entity Note: title text, body text
devices Ann, Ben

Ann inserts Note n with title "Milk", body "2"
everyone settles

Ann sets n.title to "Milk and bread"
Ben sets n.title to "Oat milk"
Ann syncs
Ben syncs
expect n.title waits on Ben
expect n.title is "Oat milk" on Ben
expect n.title is "Milk and bread" on Ann
expect Ben is not in sync

Ben takes remote for n.title
everyone settles
expect n.title is "Milk and bread"
expect everyone agrees
expect everyone is in sync
