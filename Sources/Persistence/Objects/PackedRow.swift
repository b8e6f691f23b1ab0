internal import Stores

/// A row in a pack: the values of an object that were read and nobody changed since.
struct PackedRow {
    let pack: RowPack
    let index: Int

    var version: Int64 { pack.version(index) }

    func value(_ slot: Int) -> AttributeValue { pack.value(slot, of: index) }
    func target(_ slot: Int) -> RowID? { pack.target(slot, of: index) }
}

/// The values of an object, one by one.
struct ObjectContents {
    /// Empty in a fault.
    var attributes: [AttributeValue] = []
    /// Empty in a fault.
    var toOnes: [NSManagedObjectID?] = []
    /// The values last read or saved; nil for a new object, and for a fault whose row was not read.
    var snapshot: ObjectSnapshot?
}

// The values of an object, as its row was read or one by one. They are taken out of the row where
// all are needed, or one changes; single ones are read as they stand there.
extension NSManagedObject {
    final var attributes: [AttributeValue] {
        get {
            if packed != nil { takeValues() }
            return contents.attributes
        }
        _modify {
            if packed != nil { takeValues() }
            yield &contents.attributes
        }
    }

    final var toOnes: [NSManagedObjectID?] {
        get {
            if packed != nil { takeValues() }
            return contents.toOnes
        }
        _modify {
            if packed != nil { takeValues() }
            yield &contents.toOnes
        }
    }

    /// The values last read or saved; nil for a new object, and for a fault whose row was not read.
    final var snapshot: ObjectSnapshot? {
        get {
            if packed != nil { unpack() }
            return contents.snapshot
        }
        set {
            if packed != nil {
                takeValues()
                leavePack()
            }
            contents.snapshot = newValue
        }
    }

    /// The row that stands for the present values; nil where the object has values of its own.
    final var row: PackedRow? { state.contains(.ownValues) ? nil : packed }

    /// The same for reading single values: the pack is not held meanwhile, since the object holds
    /// it.
    final var place: (pack: Unmanaged<RowPack>, index: Int)? {
        guard !state.contains(.ownValues) else { return nil }
        return packed.map { (Unmanaged.passUnretained($0.pack), $0.index) }
    }

    /// Whether the object, which may be a fault, has the values of its row.
    final var hasRow: Bool { packed != nil || contents.snapshot != nil }

    /// The version of the row that was last read or saved.
    final var storedVersion: Int64? { packed?.version ?? contents.snapshot?.version }

    /// Takes a row as what a fault is filled in with.
    final func keep(_ row: PackedRow) {
        contents.snapshot = nil
        packed = row
        textsRead = 0
    }

    /// The attribute of a slot. There must be one: the object is no fault. A text that is asked for
    /// again stays made.
    final func attribute(at slot: Int) -> AttributeValue {
        guard let place else { return contents.attributes[slot] }
        let index = place.index
        if place.pack._withUnsafeGuaranteedRef({ $0.makesText(slot, of: index) }) {
            let bit = UInt32(1) << UInt32(slot & 31)
            if textsRead & bit != 0 {
                unpack()
                return contents.attributes[slot]
            }
            textsRead |= bit
        }
        return place.pack._withUnsafeGuaranteedRef { $0.value(slot, of: index) }
    }

    /// Whether an attribute differs from what was last read or saved.
    final func isChanged(attribute slot: Int) -> Bool {
        guard let packed else {
            return contents.attributes[slot] != (contents.snapshot?.attributes[slot] ?? .null)
        }
        return state.contains(.ownValues)
            && !packed.pack.holds(contents.attributes[slot], at: slot, of: packed.index)
    }

    /// Takes the values out of the pack, unless that was done; the pack still tells what was read.
    private func takeValues() {
        guard let row, !isFault else { return }
        contents.attributes = row.pack.attributes(of: row.index)
        contents.toOnes = targets(of: row)
        state.insert(.ownValues)
    }

    /// Takes what was read out of the pack, and the values where that was not done.
    final func unpack() {
        guard let packed else { return }
        let isShown = !isFault && !state.contains(.ownValues)
        let found = ObjectSnapshot(
            version: packed.version, attributes: packed.pack.attributes(of: packed.index),
            toOnes: targets(of: packed))
        leavePack()
        contents.snapshot = found
        guard isShown else { return }
        contents.attributes = found.attributes
        contents.toOnes = found.toOnes
    }

    private func targets(of row: PackedRow) -> [NSManagedObjectID?] {
        guard row.pack.toOneCount > 0 else { return [] }
        let store = shelf?.space?.store?.target
        return (0..<row.pack.toOneCount).map { slot in
            row.target(slot).flatMap { store?.id(for: $0) }
        }
    }

    private func leavePack() {
        packed = nil
        state.remove(.ownValues)
    }

    /// Has no values from now on.
    final func dropValues() {
        leavePack()
        contents = ObjectContents()
    }
}

extension ObjectSnapshot {
    /// The values of a row; `id` tells the IDs of the rows it leads to.
    init(_ row: PackedRow, id: (RowID) -> NSManagedObjectID) {
        version = row.version
        attributes = row.pack.attributes(of: row.index)
        toOnes = (0..<row.pack.toOneCount).map { row.target($0).map(id) }
    }
}
