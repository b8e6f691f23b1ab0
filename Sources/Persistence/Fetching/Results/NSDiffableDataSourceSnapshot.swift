public import Foundation

/// Sections and items by their identifiers: what a list shows. Source: Apple,
/// NSDiffableDataSourceSnapshot, of UIKit and AppKit, which are not here.
///
/// Of a fetched results controller the sections are names, the items object IDs:
/// `snapshot as NSDiffableDataSourceSnapshot<String, NSManagedObjectID>`. Each item stands once.
public struct NSDiffableDataSourceSnapshot<
    SectionIdentifierType: Hashable, ItemIdentifierType: Hashable
> {
    private var sections: [(section: SectionIdentifierType, items: [ItemIdentifierType])] = []
    /// Items that changed and stand where they stood.
    public private(set) var reloadedItemIdentifiers: [ItemIdentifierType] = []
    /// Items that changed and keep what shows them.
    public private(set) var reconfiguredItemIdentifiers: [ItemIdentifierType] = []

    /// An empty snapshot.
    public init() {}

    /// The sections, in order.
    public var sectionIdentifiers: [SectionIdentifierType] { sections.map(\.section) }
    /// All items, in order.
    public var itemIdentifiers: [ItemIdentifierType] { sections.flatMap(\.items) }
    /// How many sections there are.
    public var numberOfSections: Int { sections.count }
    /// How many items there are.
    public var numberOfItems: Int { sections.reduce(0) { $0 + $1.items.count } }

    private func index(of section: SectionIdentifierType) -> Int? {
        sections.firstIndex { $0.section == section }
    }

    /// The items of a section; none for one that is not here.
    public func itemIdentifiers(inSection identifier: SectionIdentifierType)
        -> [ItemIdentifierType]
    {
        index(of: identifier).map { sections[$0].items } ?? []
    }

    /// How many items a section has.
    public func numberOfItems(inSection identifier: SectionIdentifierType) -> Int {
        itemIdentifiers(inSection: identifier).count
    }

    /// Where an item stands among all. Cost: a look at each.
    public func indexOfItem(_ identifier: ItemIdentifierType) -> Int? {
        itemIdentifiers.firstIndex(of: identifier)
    }

    /// Where a section stands.
    public func indexOfSection(_ identifier: SectionIdentifierType) -> Int? {
        index(of: identifier)
    }

    /// The section an item stands in. Cost: a look at each item.
    public func sectionIdentifier(containingItem identifier: ItemIdentifierType)
        -> SectionIdentifierType?
    {
        sections.first { $0.items.contains(identifier) }?.section
    }

    /// Adds sections at the end.
    public mutating func appendSections(_ identifiers: [SectionIdentifierType]) {
        sections += identifiers.map { ($0, []) }
    }

    /// Adds items at the end of a section, the last one for nil. Without such a section nothing is
    /// added.
    public mutating func appendItems(
        _ identifiers: [ItemIdentifierType], toSection section: SectionIdentifierType? = nil
    ) {
        guard let place = section.map(index(of:)) ?? sections.indices.last else { return }
        sections[place].items += identifiers
    }

    /// Takes items out.
    public mutating func deleteItems(_ identifiers: [ItemIdentifierType]) {
        let gone = Set(identifiers)
        for place in sections.indices { sections[place].items.removeAll(where: gone.contains) }
        reloadedItemIdentifiers.removeAll(where: gone.contains)
        reconfiguredItemIdentifiers.removeAll(where: gone.contains)
    }

    /// Takes out everything.
    public mutating func deleteAllItems() { self = Self() }

    /// Puts items before another one. Traps where that is in no section.
    public mutating func insertItems(
        _ identifiers: [ItemIdentifierType], beforeItem beforeIdentifier: ItemIdentifierType
    ) {
        insert(identifiers, beside: beforeIdentifier, offset: 0)
    }

    /// Puts items behind another one. Traps where that is in no section.
    public mutating func insertItems(
        _ identifiers: [ItemIdentifierType], afterItem afterIdentifier: ItemIdentifierType
    ) {
        insert(identifiers, beside: afterIdentifier, offset: 1)
    }

    /// Moves an item before another one. Traps where that is in no section.
    public mutating func moveItem(
        _ identifier: ItemIdentifierType, beforeItem toIdentifier: ItemIdentifierType
    ) {
        move(identifier, beside: toIdentifier, offset: 0)
    }

    /// Moves an item behind another one. Traps where that is in no section.
    public mutating func moveItem(
        _ identifier: ItemIdentifierType, afterItem toIdentifier: ItemIdentifierType
    ) {
        move(identifier, beside: toIdentifier, offset: 1)
    }

    private mutating func move(
        _ item: ItemIdentifierType, beside other: ItemIdentifierType, offset: Int
    ) {
        guard item != other else { return }
        for place in sections.indices { sections[place].items.removeAll { $0 == item } }
        insert([item], beside: other, offset: offset)
    }

    private mutating func insert(
        _ items: [ItemIdentifierType], beside other: ItemIdentifierType, offset: Int
    ) {
        for section in sections.indices {
            guard let place = sections[section].items.firstIndex(of: other) else { continue }
            return sections[section].items.insert(contentsOf: items, at: place + offset)
        }
        ProgrammingMistake.itemInNoSection(other)
    }

    /// Takes sections out, with their items.
    public mutating func deleteSections(_ identifiers: [SectionIdentifierType]) {
        let gone = Set(identifiers)
        let items = sections.filter { gone.contains($0.section) }.flatMap(\.items)
        sections.removeAll { gone.contains($0.section) }
        deleteItems(items)
    }

    /// Notes items as changed.
    public mutating func reloadItems(_ identifiers: [ItemIdentifierType]) {
        var known = Set(reloadedItemIdentifiers)
        reloadedItemIdentifiers += identifiers.filter { known.insert($0).inserted }
    }

    /// Notes items as changed whose views may stay.
    public mutating func reconfigureItems(_ identifiers: [ItemIdentifierType]) {
        var known = Set(reconfiguredItemIdentifiers)
        reconfiguredItemIdentifiers += identifiers.filter { known.insert($0).inserted }
    }
}

/// A snapshot as delegates of fetched results controllers get it; see
/// `NSDiffableDataSourceSnapshot`, which it is cast to with `as`. Queue: any; it never changes.
public final class NSDiffableDataSourceSnapshotReference: NSObject {
    private var content: (content: ResultContent, updated: [NSObject])?
    private var made = NSDiffableDataSourceSnapshot<AnyHashable, AnyHashable>()

    /// Items are asked for their IDs when somebody asks for them.
    init(_ content: ResultContent, updated: [NSObject]) {
        self.content = (content, updated)
    }

    init(_ snapshot: NSDiffableDataSourceSnapshot<AnyHashable, AnyHashable>) { made = snapshot }

    /// Asks the items for their IDs.
    func settle() {
        guard let (content, updated) = content else { return }
        self.content = nil
        func id(_ item: NSObject) -> AnyHashable {
            AnyHashable((item as? NSManagedObject)?.objectID ?? item)
        }
        for section in content.sections {
            made.appendSections([section.name])
            made.appendItems(content.items[section.range].map(id))
        }
        made.reloadItems(updated.map(id))
    }

    fileprivate var snapshot: NSDiffableDataSourceSnapshot<AnyHashable, AnyHashable> {
        settle()
        return made
    }

    /// The names of the sections, in order.
    public var sectionIdentifiers: [Any] { snapshot.sectionIdentifiers.map(\.base) }
    /// All object IDs, in order.
    public var itemIdentifiers: [Any] { snapshot.itemIdentifiers.map(\.base) }
    /// The object IDs of changed objects that stand where they stood.
    public var reloadedItemIdentifiers: [Any] { snapshot.reloadedItemIdentifiers.map(\.base) }
    /// The items that a snapshot of the program's own was told to reconfigure.
    public var reconfiguredItemIdentifiers: [Any] {
        snapshot.reconfiguredItemIdentifiers.map(\.base)
    }
    /// How many sections there are.
    public var numberOfSections: Int { snapshot.numberOfSections }
    /// How many items there are.
    public var numberOfItems: Int { snapshot.numberOfItems }
}

/// What makes `snapshot as NSDiffableDataSourceSnapshot<String, NSManagedObjectID>` compile: the
/// compiler's own protocol for such casts.
extension NSDiffableDataSourceSnapshot: _ObjectiveCBridgeable {
    /// What `as NSDiffableDataSourceSnapshotReference` makes. Cost: O(items).
    public func _bridgeToObjectiveC() -> NSDiffableDataSourceSnapshotReference {
        var general = NSDiffableDataSourceSnapshot<AnyHashable, AnyHashable>()
        for section in sectionIdentifiers {
            general.appendSections([section])
            general.appendItems(itemIdentifiers(inSection: section))
        }
        general.reloadItems(reloadedItemIdentifiers)
        general.reconfigureItems(reconfiguredItemIdentifiers)
        return NSDiffableDataSourceSnapshotReference(general)
    }

    /// Identifiers of other types than asked for are left out.
    public static func _forceBridgeFromObjectiveC(
        _ source: NSDiffableDataSourceSnapshotReference, result: inout Self?
    ) {
        result = _unconditionallyBridgeFromObjectiveC(source)
    }

    /// What `as?` makes; false where a section or an item is of another type. Cost: O(items).
    public static func _conditionallyBridgeFromObjectiveC(
        _ source: NSDiffableDataSourceSnapshotReference, result: inout Self?
    ) -> Bool {
        let snapshot = _unconditionallyBridgeFromObjectiveC(source)
        guard snapshot.numberOfItems == source.numberOfItems,
            snapshot.numberOfSections == source.numberOfSections
        else { return false }
        result = snapshot
        return true
    }

    /// What `as` makes; sections and items of another type are left out. Cost: O(items).
    public static func _unconditionallyBridgeFromObjectiveC(
        _ source: NSDiffableDataSourceSnapshotReference?
    ) -> Self {
        var typed = Self()
        guard let general = source?.snapshot else { return typed }
        for section in general.sectionIdentifiers {
            guard let name = section.base as? SectionIdentifierType else { continue }
            typed.appendSections([name])
            typed.appendItems(
                general.itemIdentifiers(inSection: section)
                    .compactMap { $0.base as? ItemIdentifierType })
        }
        typed.reloadItems(
            general.reloadedItemIdentifiers.compactMap { $0.base as? ItemIdentifierType })
        typed.reconfigureItems(
            general.reconfiguredItemIdentifiers.compactMap { $0.base as? ItemIdentifierType })
        return typed
    }
}
