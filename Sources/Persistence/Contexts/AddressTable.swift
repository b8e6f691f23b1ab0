/// Addresses by 64-bit keys: open addressing with linear probing, never more than half full.
struct AddressTable {
    private struct Entry {
        var key: Int64 = 0
        /// `free` where the place never had a key since the table was made.
        var address = AddressTable.free
    }

    private static let free: UInt = 0
    /// What was kept here is gone; the place is passed over until the table is made anew.
    private static let gone: UInt = 1

    private var entries: [Entry] = []
    /// How many places are not free.
    private var used = 0
    private(set) var count = 0

    var isEmpty: Bool { count == 0 }
    var addresses: [UInt] { entries.lazy.map(\.address).filter { $0 > Self.gone } }

    /// The address of a key; 0 where there is none.
    func address(_ key: Int64) -> UInt {
        guard count > 0 else { return 0 }
        let address = entries[place(of: key)].address
        return address == Self.gone ? 0 : address
    }

    /// Keeps `address` for `key`, in the place of what was kept before.
    mutating func set(_ address: UInt, for key: Int64) {
        reserve(1)
        put(address, key, at: place(of: key))
    }

    /// Keeps `address` for `key` where nothing is kept for it; else returns what is.
    mutating func claim(_ key: Int64, for address: UInt) -> UInt {
        reserve(1)
        let place = place(of: key)
        let former = entries[place].address
        guard former <= Self.gone else { return former }
        put(address, key, at: place)
        return 0
    }

    private mutating func put(_ address: UInt, _ key: Int64, at place: Int) {
        let former = entries[place].address
        if former == Self.free { used += 1 }
        if former <= Self.gone { count += 1 }
        entries[place] = Entry(key: key, address: address)
    }

    /// Forgets `key`, where `address` is what is kept for it.
    mutating func remove(_ address: UInt, for key: Int64) {
        guard count > 0 else { return }
        let place = place(of: key)
        guard entries[place].address == address else { return }
        count -= 1
        if entries[next(place)].address == Self.free {
            entries[place].address = Self.free
            used -= 1
        } else {
            entries[place].address = Self.gone
        }
    }

    mutating func removeAll() { self = AddressTable() }

    /// Makes room for `more` keys. A table that fills with places whose keys are gone is made anew
    /// with some to spare, so that the cost of making it spreads.
    mutating func reserve(_ more: Int) {
        guard (used + more) * 2 > entries.count else { return }
        var capacity = KeySpread.capacityMin
        let share = used > count ? 3 : 2
        while (count + more) * share > capacity { capacity *= 2 }
        let former = entries
        entries = Array(repeating: Entry(), count: capacity)
        used = count
        for entry in former where entry.address > Self.gone {
            entries[place(of: entry.key)] = entry
        }
    }

    /// Where a key is, or would be.
    private func place(of key: Int64) -> Int {
        var place = KeySpread.home(of: key, capacity: entries.count)
        while entries[place].address != Self.free, entries[place].key != key {
            place = next(place)
        }
        return place
    }

    private func next(_ place: Int) -> Int { (place &+ 1) & (entries.count &- 1) }
}

/// Where keys begin to look for their place in a table.
///
/// Runs of keys that follow each other lie side by side, so that rows in order are found in memory
/// that is at hand; the runs themselves are spread evenly by the golden ratio (Knuth, The Art of
/// Computer Programming 3, 6.4).
enum KeySpread {
    private static let runBits = 4
    /// The least that a table may have.
    static let capacityMin = 1 << (runBits + 1)

    /// `capacity` is a power of two, `capacityMin` at least.
    static func home(of key: Int64, capacity: Int) -> Int {
        let bits = UInt64(bitPattern: key)
        let spread = (bits >> runBits) &* 0x9E37_79B9_7F4A_7C15
        let run = spread >> UInt64(64 &+ runBits &- capacity.trailingZeroBitCount)
        return Int(truncatingIfNeeded: run << runBits | bits & (1 << runBits - 1))
    }
}
