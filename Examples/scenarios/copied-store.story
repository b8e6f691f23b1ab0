# A store's file is copied to a second machine, with an edit that was not sent yet.
story A store copied to a second machine

entity Note: title text, views integer counter
devices Ann, Ben

Ann inserts Note n with title "Milk", views 1
everyone settles
Ann adds 2 to n.views
Ann inserts Note m with title "Bread"
Ben becomes a copy of Ann
Ben adds 10 to n.views
everyone settles

# What both copies held was counted once, and made once.
expect n.views is 13
expect 2 Note
expect everyone agrees
