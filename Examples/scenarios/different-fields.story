# Two devices change different fields of one object. Both stay, and nothing is logged.
story Different fields of one object

entity Contact: name text, phone text, mail text
devices Ann, Ben

Ann inserts Contact c with name "Zoe", phone "123", mail "zoe@example.org"
everyone settles

Ann sets c.phone to "456"
Ben sets c.mail to "zoe@example.com"
everyone settles

expect c.phone is "456"
expect c.mail is "zoe@example.com"
expect nothing was logged
expect everyone agrees
