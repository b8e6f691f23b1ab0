# A deletion is undone after it was saved and sent: the object comes back for all.
story An object that is undeleted

entity Note: title text
devices Ann, Ben

Ann inserts Note n with title "Keep me"
everyone settles
Ann deletes n
everyone settles
expect n is gone

Ann undoes
everyone settles
expect n.title is "Keep me"
expect 1 Note
expect everyone agrees
