internal import SQLiteDriver
internal import Stores

/// Gathers the rows of a statement in packs, in their order.
struct RowPacking {
    private let plan: ReadPlan
    private let find: (Int32, Int64) throws -> Int32?
    private var packs: [RowPack] = []
    /// The rows of one entity follow each other in a pack; another entity's begin another.
    private var current: (decoder: ReadPlan.Decoder, packer: RowPacker)?
    private var packers: [Int32: RowPacker] = [:]

    /// `find` tells the entity of a key in the tree of a declared one.
    init(_ plan: ReadPlan, find: @escaping (Int32, Int64) throws -> Int32?) {
        self.plan = plan
        self.find = find
    }

    /// Adds the present row of a statement whose select list is the plan's.
    mutating func add(_ statement: Statement) throws {
        let decoder = try plan.decoder(of: statement)
        let packer = packer(for: decoder)
        if packer.isFull { packs.append(packer.take()) }
        packer.begin(key: statement.int64(at: 0), version: statement.int64(at: 2))
        try decoder.pack(statement, into: packer, find: find)
    }

    private mutating func packer(for decoder: ReadPlan.Decoder) -> RowPacker {
        if let current, current.decoder === decoder { return current.packer }
        endPack()
        let packer = packers[decoder.entity] ?? decoder.makePacker()
        packers[decoder.entity] = packer
        current = (decoder, packer)
        return packer
    }

    private mutating func endPack() {
        if let packer = current?.packer, packer.count > 0 { packs.append(packer.take()) }
    }

    /// All rows that were added.
    mutating func finish() -> [RowPack] {
        endPack()
        return packs
    }
}

extension ReadPlan.Decoder {
    fileprivate func makePacker() -> RowPacker {
        RowPacker(entity: entity, attributes: attributes.count, toOnes: toOnes.count)
    }

    /// Puts the values and links of the statement's present row into the row that was begun.
    fileprivate func pack(
        _ statement: Statement, into packer: RowPacker,
        find: (Int32, Int64) throws -> Int32?
    ) throws {
        for slot in attributes.indices {
            let (column, kind) = attributes[slot]
            try ValueCoding.pack(statement, column, as: kind, into: packer, at: slot)
        }
        for slot in toOnes.indices {
            if let target = try target(of: toOnes[slot], of: statement, find: find) {
                packer.set(target: target, at: slot)
            }
        }
    }
}

extension ValueCoding {
    /// Puts the column at `index` into a row, as `read` reads it. Not for columns that may name
    /// files.
    fileprivate static func pack(
        _ statement: Statement, _ index: Int, as kind: ColumnKind, into packer: RowPacker,
        at slot: Int
    ) throws {
        // Null reads as zero or no text, so only these need a second look.
        switch kind {
        case .integer:
            let integer = statement.int64(at: index)
            if integer != 0 || !statement.isNull(at: index) {
                packer.set(integer: integer, at: slot)
            }
        case .boolean:
            let isTrue = statement.int64(at: index) != 0
            if isTrue || !statement.isNull(at: index) {
                packer.set(integer: isTrue ? 1 : 0, at: slot)
            }
        case .double, .float:
            let number = statement.double(at: index)
            if number != 0 || !statement.isNull(at: index) { packer.set(double: number, at: slot) }
        case .date:
            let seconds = statement.double(at: index)
            if seconds != 0 || !statement.isNull(at: index) { packer.set(date: seconds, at: slot) }
        case .text:
            if let text = statement.textBytes(at: index) { packer.set(text: text, at: slot) }
        case .uuid:
            if let uuid = statement.uuid(at: index) { return packer.set(uuid: uuid, at: slot) }
            packer.set(try read(statement, index, as: kind, files: nil), at: slot)
        case .decimal, .transformable, .uri, .binary:
            packer.set(try read(statement, index, as: kind, files: nil), at: slot)
        }
    }
}
