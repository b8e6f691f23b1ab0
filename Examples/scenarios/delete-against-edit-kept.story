# The same with the other rule of deletion: who edits keeps the object, for all.
story Delete against edit, where the edit is kept

deletion keepEdited
entity Note: title text, body text
devices Ann, Ben

Ann inserts Note n with title "Draft", body "Dear all"
everyone settles

Ann deletes n
Ben sets n.title to "Final"
Ann syncs
Ben syncs
everyone settles

expect n.title is "Final"
expect n.body is "Dear all"
expect everyone agrees
