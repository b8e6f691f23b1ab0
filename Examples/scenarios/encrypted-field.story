# What the service must not read travels sealed. A device without the key keeps it as it is: it shows
# nothing, and what it changes besides overwrites nothing.
story Encrypted field

entity Note: title text encrypted, stars integer
devices Ann, Ben
device Eve with no key

Ann inserts Note n with title "Secret"
everyone settles

expect n.title is "Secret" on Ben
expect n.title is nothing on Eve

Eve sets n.stars to 3
everyone settles

expect n.title is "Secret" on Ann
expect n.stars is 3
expect nothing was logged
