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
            if packed != nil { unpack() }
            return contents.attributes
        }
        _modify {
            if packed != nil { unpack() }
            yield &contents.attributes
        }
    }

    final var toOnes: [NSManagedObjectID?] {
        get {
            if packed != nil { unpack() }
            return contents.toOnes
        }
        _modify {
            if packed != nil { unpack() }
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
                if isFault { packed = nil } else { unpack() }
            }
            contents.snapshot = newValue
        }
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

    /// The attribute of a slot. There must be one: the object is no fault.
    final func attribute(at slot: Int) -> AttributeValue {
        packed?.value(slot) ?? contents.attributes[slot]
    }

    /// Takes the values out of the pack.
    final func unpack() {
        guard let row = packed else { return }
        packed = nil
        let store = shelf?.space?.store?.target
        let found = ObjectSnapshot(row) { store?.id(for: $0) }
        contents.snapshot = found
        guard !isFault else { return }
        contents.attributes = found.attributes
        contents.toOnes = found.toOnes
    }

    /// Has no values from now on.
    final func dropValues() {
        packed = nil
        contents = ObjectContents()
    }
}

extension ObjectSnapshot {
    /// The values of a row; `id` tells the IDs of the rows it leads to.
    init(_ row: PackedRow, id: (RowID) -> NSManagedObjectID?) {
        version = row.version
        attributes = row.pack.attributes(of: row.index)
        toOnes = (0..<row.pack.toOneCount).map { row.target($0).flatMap(id) }
    }
}
