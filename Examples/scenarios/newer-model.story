# One device has a newer version of the app, with a field and an entity that the other lacks. What
# the older one edits keeps what it does not know.
story Two versions of a model

model old
entity Note: title text

model new
entity Note: title text, colour text
entity Tag: label text

device Ann with model old
device Ben with model new

Ann inserts Note n with title "Milk"
everyone settles
Ben sets n.colour to "red"
Ben inserts Tag t with label "Shop"
everyone settles
Ann sets n.title to "Oat milk"
everyone settles

expect n.title is "Oat milk"
expect n.colour is "red" on Ben
expect n.colour is "red" on the service
