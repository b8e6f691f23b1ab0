# The service is restored from an older backup. The devices notice, and send again what it lost.
story A service restored from a backup

entity Note: title text
devices Ann, Ben

Ann inserts Note n with title "Monday"
everyone settles
the service is backed up
Ann sets n.title to "Tuesday"
Ben inserts Note m with title "New"
everyone settles

the service is restored
expect n.title is "Monday" on the service
Ann syncs
expect it told "older state"
everyone settles

expect n.title is "Tuesday"
expect n.title is "Tuesday" on the service
expect m is there on the service
expect everyone agrees
