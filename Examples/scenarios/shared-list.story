story A list that two people edit

# Ann has a phone and a laptop, Ben a tablet. Nothing of Ann's is his to see before she shares it.
entity List: title text
entity Item: title text, done flag
entity Diary: words text
relation List.items many, Item.list one
devices Phone, Laptop
devices Tablet of Ben

Phone inserts List l with title "Party"
Phone inserts Item a with title "Bread", list l
Phone inserts Diary d with words "Mine"
everyone settles
expect 0 List on Tablet

Phone shares l as party
Phone invites Ben to party
Tablet accepts party
expect a.title is "Bread" on Tablet
expect d is gone on Tablet

# Both edit, also the same object; what is linked with the list later is shared too, also by the
# laptop, which has not heard of the share.
Tablet inserts Item b with title "Juice", list l
Tablet sets a.done to true
Laptop sets a.title to "Brown bread"
Laptop inserts Item c with title "Cheese", list l
everyone settles
expect a.title is "Brown bread"
expect a.done is true
expect l.items are a, b, c
expect nothing was logged
expect everyone agrees
expect everyone is in sync

# Ann takes it back while Ben has an edit that was not sent.
Tablet goes offline
Tablet sets a.title to "White bread"
Phone revokes party from Ben
Tablet comes online
Tablet syncs
expect it told "not shared with you any more"
expect 0 Item on Tablet
expect a.title was logged by shareEnded on Tablet
everyone settles
expect a.title is "Brown bread" on Phone and Laptop
expect everyone agrees
