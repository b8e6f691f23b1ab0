# A device is restored from a backup of last week. It catches up; nothing newer is rolled back.
story A device restored from a backup

entity Note: title text
devices Ann, Ben

Ann inserts Note n with title "Monday"
everyone settles
Ann is backed up

7 days pass
Ann sets n.title to "Tuesday"
Ann inserts Note m with title "New"
everyone settles
Ann is restored
expect n.title is "Monday" on Ann
everyone settles

expect n.title is "Tuesday"
expect m is there
expect nothing was logged
expect everyone agrees
