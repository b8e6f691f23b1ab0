internal import Stores

/// Rows in packs by their keys, each to be taken once.
final class PackedRowTable {
    private var packs: [RowPack] = []
    /// Where each row is: see `place`.
    private var places = AddressTable()

    private static let indexBits = 16

    func keep(_ pack: RowPack, rows: some Sequence<Int>) {
        packs.append(pack)
        for index in rows { places.set(Self.place(packs.count, index), for: pack.key(index)) }
    }

    func makeRoom(for count: Int) { places.reserve(count) }

    func row(of key: Int64) -> PackedRow? { row(at: places.address(key)) }

    func take(_ key: Int64) -> PackedRow? {
        let place = places.address(key)
        guard let row = row(at: place) else { return nil }
        places.remove(place, for: key)
        if places.isEmpty { packs = [] }
        return row
    }

    /// The number of a pack, from 1, and that of a row in it.
    private static func place(_ pack: Int, _ index: Int) -> UInt {
        UInt(pack) << UInt(indexBits) | UInt(index)
    }

    private func row(at place: UInt) -> PackedRow? {
        guard place != 0 else { return nil }
        let pack = packs[Int(place >> UInt(Self.indexBits)) - 1]
        return PackedRow(pack: pack, index: Int(place) & (1 << Self.indexBits - 1))
    }
}
