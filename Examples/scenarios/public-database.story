story What another made in the public database is theirs to change

entity Note: title text
entity Tag: label text
relation Note.tags many, Tag.notes many
database public
devices Phone
devices Tablet of Ben

Phone inserts Tag t with label "river"
Phone inserts Note n with title "Bridge"
Phone adds t to n.tags
Tablet inserts Note m with title "Market"
everyone settles
expect 2 Note
expect everyone agrees

# Ben may read the bridge, and not change it. His edit is refused, and stays on his device.
Tablet sets n.title to "Ben's bridge"
Tablet syncs
expect it told "1 refused by the service"
expect Tablet is not in sync
expect n.title is "Bridge" on Phone and the service
expect n.title is "Ben's bridge" on Tablet
Tablet sets n.title to "Bridge"
Tablet syncs
expect Tablet is in sync

# So is his deletion: the bridge is gone on his device, and stands everywhere else.
Tablet deletes n
Tablet syncs
expect it told "refused by the service"
expect Tablet is not in sync
expect n is gone on Tablet
expect n is there on Phone and the service
Phone sets n.title to "Stone bridge"
everyone syncs
expect n is gone on Tablet

# He takes the deletion back. The bridge is there again as the service has it, with its links, and
# nothing is sent.
Tablet takes back the deletion of n
expect n.title is "Stone bridge"
expect n.tags are t
expect Tablet is in sync
Tablet syncs
expect it told "nothing to do"
expect everyone agrees

# A deletion that nobody refused is not taken back, and what he made himself he may delete.
Tablet deletes m
Tablet takes back the deletion of m
expect it was refused
everyone settles
expect m is gone
expect everyone is in sync
expect everyone agrees
