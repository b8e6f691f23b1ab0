# The rule is latest, and one clock is an hour behind. An edit made after another one was seen is
# later, whatever the clocks say.
story Clocks that differ by an hour

policy latest
entity Note: title text
device Ann with clock 1 hour ahead
device Ben with clock 1 hour behind

Ann inserts Note n with title "First"
everyone settles
10 seconds pass
Ann sets n.title to "Second"
everyone settles

10 seconds pass
Ben sets n.title to "Third"     # he has seen the second
everyone settles

expect n.title is "Third"
expect nothing was logged
expect everyone agrees
