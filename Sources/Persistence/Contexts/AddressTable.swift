/// Addresses by 64-bit keys: open addressing with linear probing, never more than half full.
struct AddressTable {
    private struct Entry {
        var key: Int64 = 0
        /// 0 marks a free place.
        var address: UInt = 0
    }

    private var entries: [Entry] = []
    private(set) var count = 0

    var isEmpty: Bool { count == 0 }
    var addresses: [UInt] { entries.lazy.map(\.address).filter { $0 != 0 } }

    /// The address of a key; 0 where there is none.
    func address(_ key: Int64) -> UInt {
        count > 0 ? entries[place(of: key)].address : 0
    }

    /// Keeps `address` for `key`, in the place of what was kept before.
    mutating func set(_ address: UInt, for key: Int64) {
        reserve(1)
        let place = place(of: key)
        if entries[place].address == 0 { count += 1 }
        entries[place] = Entry(key: key, address: address)
    }

    /// Keeps `address` for `key` where nothing is kept for it; else returns what is.
    mutating func claim(_ key: Int64, for address: UInt) -> UInt {
        reserve(1)
        let place = place(of: key)
        guard entries[place].address == 0 else { return entries[place].address }
        entries[place] = Entry(key: key, address: address)
        count += 1
        return 0
    }

    /// Forgets `key`, where `address` is what is kept for it.
    mutating func remove(_ address: UInt, for key: Int64) {
        guard count > 0 else { return }
        let place = place(of: key)
        if entries[place].address == address { clear(place) }
    }

    mutating func removeAll() {
        entries = []
        count = 0
    }

    /// Makes room for `more` keys.
    mutating func reserve(_ more: Int) {
        guard (count + more) * 2 > entries.count else { return }
        var capacity = max(entries.count, 16)
        while (count + more) * 2 > capacity { capacity *= 2 }
        let former = entries
        entries = Array(repeating: Entry(), count: capacity)
        for entry in former where entry.address != 0 {
            entries[place(of: entry.key)] = entry
        }
    }

    /// Frees a place, and moves up those behind it that would not be found past the gap.
    private mutating func clear(_ place: Int) {
        var gap = place
        var other = next(gap)
        while entries[other].address != 0 {
            let distance = (other &- home(of: entries[other].key)) & (entries.count &- 1)
            if distance >= (other &- gap) & (entries.count &- 1) {
                entries[gap] = entries[other]
                gap = other
            }
            other = next(other)
        }
        entries[gap] = Entry()
        count -= 1
    }

    /// Where a key is, or would be.
    private func place(of key: Int64) -> Int {
        var place = home(of: key)
        while entries[place].address != 0, entries[place].key != key { place = next(place) }
        return place
    }

    private func next(_ place: Int) -> Int { (place &+ 1) & (entries.count &- 1) }

    private func home(of key: Int64) -> Int {
        KeySpread.home(of: key, capacity: entries.count)
    }
}

/// Where keys begin to look for their place in a table.
///
/// Keys that follow each other lie in the same line of the cache, so that runs of rows are quick;
/// the lines themselves are spread, so that no run grows long.
enum KeySpread {
    /// `capacity` is a power of two.
    static func home(of key: Int64, capacity: Int) -> Int {
        let line = UInt64(bitPattern: key) >> 2
        let spread = (line &* 0x9E37_79B9_7F4A_7C15) >> 24
        return Int(truncatingIfNeeded: spread << 2 | UInt64(bitPattern: key) & 3)
            & (capacity &- 1)
    }
}
