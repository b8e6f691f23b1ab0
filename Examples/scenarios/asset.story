# A large value travels as an asset, uploaded before its record. Both sides replace it while they cannot
# see each other: one wins, and the other is in the conflict log with all its bytes, to be put back.
story Asset

entity Note: title text, photo data
assets above 20 bytes
devices Ann, Ben

Ann inserts Note n with title "Boat", photo "a picture of a boat at sea"
everyone settles
expect n.photo is "a picture of a boat at sea" on Ben and the service

Ann goes offline
Ann sets n.photo to "the boat again and closer by"
Ben sets n.photo to "the same boat from the pier"
Ben loses the next answer
Ben syncs
Ann comes online
Ann syncs
everyone settles
expect n.photo is "the boat again and closer by"
expect n.photo was logged on Ann

Ann takes remote for n.photo
everyone settles
expect n.photo is "the same boat from the pier"

# The service comes back without its assets: the devices send them again.
the service is lost
everyone settles
expect n.photo is "the same boat from the pier" on the service
expect everyone agrees

# A value that is small again is in its record as any other.
Ben sets n.photo to "small"
everyone settles
expect n.photo is "small" on Ann and the service
expect everyone agrees
