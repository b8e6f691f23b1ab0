internal import ObjectModel
internal import Stores

/// Numbers that count: two that both count from 2 to 3 have counted twice.
///
/// The model says so, with the word `counter` under the key `MirrorMerge` in the userInfo of an
/// attribute, or of its entity. What a save adds is then added to what the row has by now, where
/// one of the policies by property, or a context that follows others' saves, would keep one side's
/// number and undo the other's counts. What a context undoes of a count is what it added, too, and
/// not what others did.
extension NSManagedObject {
    private static let key = "MirrorMerge"
    private static let counter = "counter"

    /// What an attribute becomes that both sides changed; nil where it does not count, or the sum
    /// is none that its type holds.
    final func count(
        _ slot: Int, own: AttributeValue, former: AttributeValue, found: AttributeValue
    ) -> AttributeValue? {
        guard own != former, found != former, case .integer(let mine) = own,
            case .integer(let theirs) = found, isCounter(slot)
        else { return nil }
        var base: Int64 = 0
        if case .integer(let value) = former { base = value }
        let (added, overflows) = mine.subtractingReportingOverflow(base)
        let (sum, isTooLarge) = theirs.addingReportingOverflow(added)
        guard !overflows, !isTooLarge, holds(sum, slot) else { return nil }
        return .integer(sum)
    }

    private func isCounter(_ slot: Int) -> Bool {
        let place = shape.layout.attributes[slot]
        guard !(place.attribute is NSDerivedAttributeDescription) else { return false }
        var words = [place.attribute.userInfo?[Self.key] as? String]
        var composites = place.name.split(separator: ".").dropLast()
        while !composites.isEmpty {
            let name = composites.joined(separator: ".")
            words.append(entity.propertiesByName[name]?.userInfo?[Self.key] as? String)
            composites.removeLast()
        }
        var owner: NSEntityDescription? = entity
        while let current = owner {
            words.append(current.userInfo?[Self.key] as? String)
            owner = current.superentity
        }
        return words.lazy.compactMap { $0 }.first == Self.counter
    }

    private func holds(_ value: Int64, _ slot: Int) -> Bool {
        switch shape.layout.attributes[slot].attribute.attributeType {
        case .integer16AttributeType: Int16(exactly: value) != nil
        case .integer32AttributeType: Int32(exactly: value) != nil
        case .integer64AttributeType: true
        default: false
        }
    }
}
