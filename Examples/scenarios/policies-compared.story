# One conflict under each rule: what becomes of a number that two devices changed.
story One conflict under each rule

compare policies local, remote, overwrite, rollback, latest, max, min
entity Item: name text, count integer
devices Ann, Ben

Ann inserts Item i with name "Milk", count 5
everyone settles

Ben sets i.count to 3
1 minute passes
Ann sets i.count to 8
Ann sets i.name to "Oat milk"
Ann syncs
Ben syncs        # Ben meets Ann's values, and merges
everyone settles

under local expect i.count is 3
under remote expect i.count is 8
under overwrite expect i.count is 3
under rollback expect i.count is 8
under latest expect i.count is 8
under max expect i.count is 8
under min expect i.count is 3
under local expect i.name is "Oat milk"
under overwrite expect i.name is "Milk"
expect i was logged on Ben
expect everyone agrees
