internal import Foundation
internal import ObjectModel
internal import Stores

/// One bitmap (ZCOLUMNS), made once for many changes of the same properties.
final class ChangeBitmap: Sendable {
    let bytes: Data

    init(_ bytes: Data) { self.bytes = bytes }
}

/// Which bit of a history change's bitmap (ZCOLUMNS) stands for which property of one entity.
///
/// Most significant bit first. To-one relationships come first, each with a further bit for its
/// companion and for its order column; then attributes; then to-manys. Within each kind properties
/// are sorted by the entity that declares them, from root to leaf, and then by name.
struct ChangedColumns: Sendable {
    let attributeBits: [Int]
    let toOneBits: [Int]
    let toManyBits: [Int]
    private let names: [Int: String]
    private let count: Int

    init(schema: StoreSchema, columns: EntityColumns, layout: EntityLayout) {
        let depth = Self.depths(of: layout.entity)
        var next = 0
        var names: [Int: String] = [:]
        /// Gives each of the properties its bits, in the bitmap's order.
        func assign(_ properties: [String], width: (Int) -> Int) -> [Int] {
            var bits = [Int](repeating: 0, count: properties.count)
            let order = properties.indices.sorted { left, right in
                let (first, second) = (Self.top(properties[left]), Self.top(properties[right]))
                let (upper, lower) = (depth[first] ?? 0, depth[second] ?? 0)
                if upper != lower { return upper < lower }
                if first != second { return first.utf8.lexicographicallyPrecedes(second.utf8) }
                return left < right
            }
            for index in order {
                bits[index] = next
                for bit in next..<next + width(index) { names[bit] = Self.top(properties[index]) }
                next += width(index)
            }
            return bits
        }
        toOneBits = assign(layout.toOnes.map(\.name)) { slot in
            let link = columns.toOnes[slot]
            return 1 + (link.companion == nil ? 0 : 1) + (link.order == nil ? 0 : 1)
        }
        attributeBits = assign(layout.attributes.map(\.name)) { _ in 1 }
        toManyBits = assign(layout.toManys.map(\.name)) { _ in 1 }
        self.names = names
        count = next
    }

    /// How far below the root each property is declared.
    private static func depths(of entity: NSEntityDescription) -> [String: Int] {
        var chain = [entity]
        while let parent = chain.last?.superentity { chain.append(parent) }
        var depths: [String: Int] = [:]
        for (depth, ancestor) in chain.reversed().enumerated() {
            for property in ancestor.declaredProperties where depths[property.name] == nil {
                depths[property.name] = depth
            }
        }
        return depths
    }

    /// The property's name; of a composite's element the composite's.
    private static func top(_ name: String) -> String {
        name.firstIndex(of: ".").map { String(name[..<$0]) } ?? name
    }

    func bitmap(of update: RowUpdate) -> Data {
        var bytes = Data(count: (count + 7) / 8)
        func mark(_ bit: Int) { bytes[bit / 8] |= 0x80 >> UInt8(bit % 8) }
        for (slot, _) in update.attributes { mark(attributeBits[slot]) }
        for (slot, _) in update.toOnes { mark(toOneBits[slot]) }
        for slot in update.changedToManys where toManyBits.indices.contains(slot) {
            mark(toManyBits[slot])
        }
        return bytes
    }

    /// The names of the marked properties, in the bitmap's order. Bits past the end mean nothing.
    func properties(in bitmap: Data) -> [String] {
        var found: [String] = []
        for (offset, byte) in bitmap.enumerated() where byte != 0 {
            for place in 0..<8 where byte & (0x80 >> UInt8(place)) != 0 {
                guard let name = names[offset * 8 + place], found.last != name else { continue }
                found.append(name)
            }
        }
        return found
    }
}
