import Foundation
import ObjectModel
import Predicates
import Stores
import Testing

/// The rules of a row store at their edges.
@Suite struct RowRuleTests {
    /// Item and its subentity Part, unique by name and rank together; an item points at a shelf
    /// that does not point back, and lies in a box, whose items are ordered.
    private let store: MemoryRowStore
    private let item: EntityLayout

    init() throws {
        func attribute(_ name: String, _ type: NSAttributeType) -> NSAttributeDescription {
            let attribute = EverythingModel.attribute(name, type)
            attribute.preservesValueInHistoryOnDeletion = true
            return attribute
        }
        let item = EverythingModel.entity(
            "Item",
            [attribute("name", .stringAttributeType), attribute("rank", .integer64AttributeType)])
        item.uniquenessConstraints = [["name", "rank"]]
        let part = EverythingModel.entity("Part", [])
        item.subentities = [part]
        let shelf = EverythingModel.entity("Shelf", [])
        let box = EverythingModel.entity("Box", [])
        item.declaredProperties.append(EverythingModel.relationship("shelf", .one, to: shelf))
        EverythingModel.link(box, "items", .ordered, item, "box", .one)
        let model = NSManagedObjectModel()
        model.entities = [item, part, shelf, box]
        let made = MemoryRowStore(layout: ModelLayout(model: model))
        self.item = try #require(made.layout.entity(named: "Item"))
        store = made
    }

    @Test func layoutsAreFoundByTheNumbersOfTheFile() throws {
        let model = store.layout.model
        let numbers: [String: Int32] = ["Item": 40, "Part": 7, "Shelf": 7, "Box": 2]
        let layout = ModelLayout(model: model, numbers: numbers)
        // Of two with one number the first counts.
        #expect(layout.entities.map(\.number) == [2, 7, 40])
        #expect(layout.entity(2)?.name == "Box" && layout.entity(40)?.name == "Item")
        #expect(
            layout.entity(7)?.name == model.entities.first { numbers[$0.name ?? ""] == 7 }?.name)
        for number in [Int32.min, 0, 1, 3, 39, 41, .max] { #expect(layout.entity(number) == nil) }
        #expect(layout.entity(named: "Item")?.number == 40 && layout.root(of: 40) == 40)
    }

    private func row(
        _ entity: String = "Item", key: Int64? = nil, name: String? = nil, rank: Int64? = nil,
        links: [String: RowID] = [:]
    ) throws -> Row {
        let layout = try #require(store.layout.entity(named: entity))
        let key = try key ?? #require(store.reserveKeys(entity: layout.number, count: 1).first)
        var row = Row(id: RowID(entity: layout.number, key: key), layout: layout)
        if let name { row.attributes[try #require(layout.attributeSlot("name"))] = .text(name) }
        if let rank { row.attributes[try #require(layout.attributeSlot("rank"))] = .integer(rank) }
        for (link, target) in links {
            row.toOnes[try #require(layout.toOneSlot(link))] = Link(target)
        }
        return row
    }

    @discardableResult
    private func save(_ change: (inout ChangeSet) throws -> Void) throws -> SaveOutcome {
        var changes = ChangeSet()
        try change(&changes)
        return try store.save(changes)
    }

    @Test func aKeyWithAMissingPartIsFree() throws {
        let rows = try [row(name: "a"), row(name: "a"), row(rank: 1), row(rank: 1)]
        try save { $0.inserts = rows }
        try save { $0.inserts = [try row(name: "a", rank: 1)] }
        #expect(throws: UniquenessViolation.self) {
            try save { $0.inserts = [try row("Part", name: "a", rank: 1)] }
        }
    }

    @Test func whoKeepsItsUniqueValueHoldsItWhileItIsWritten() throws {
        let holder = try row(name: "a", rank: 1)
        try save { $0.inserts = [holder] }
        var update = RowUpdate(id: holder.id)
        update.toOnes = [(try #require(item.toOneSlot("shelf")), nil)]
        #expect(throws: UniquenessViolation.self) {
            try save {
                $0.inserts = [try row(name: "a", rank: 1)]
                $0.updates = [update]
            }
        }
        update.attributes = [(try #require(item.attributeSlot("name")), .text("b"))]
        try save {
            $0.inserts = [try row(name: "a", rank: 1)]
            $0.updates = [update]
        }
    }

    @Test func anUpdateOfARowThatIsGoneIsAConflict() throws {
        let gone = try row()
        let conflicts = #expect(throws: SaveConflicts.self) {
            try save { $0.updates = [RowUpdate(id: gone.id, expectedVersion: 1)] }
        }
        #expect(conflicts?.conflicts.map(\.id) == [gone.id])
        #expect(conflicts?.conflicts.first?.stored == nil)
    }

    @Test func aTreeOfEntitiesCountsItsKeysTogether() throws {
        let (first, second) = (try row(), try row("Part"))
        #expect(first.id.key == 1 && second.id.key == 2)
        try save { $0.inserts = [try row("Part", key: 40)] }
        #expect(try row().id.key == 41)
    }

    @Test func aTombstoneTellsWhatWasThere() throws {
        let (named, bare) = (try row(name: "a"), try row())
        try save { $0.inserts = [named, bare] }
        try save { $0.deletes = [RowDelete(id: named.id), RowDelete(id: bare.id)] }
        let changes = try #require(try store.history(after: 1, limit: nil).first).changes
        #expect(changes.map(\.tombstone) == [["name": .text("a")], [:]])
    }

    @Test func aRowWhoseLinkIsClearedIsANewVersion() throws {
        let shelf = try row("Shelf")
        let item = try row(links: ["shelf": shelf.id])
        try save { $0.inserts = [shelf, item] }
        let outcome = try save { $0.deletes = [RowDelete(id: shelf.id)] }
        #expect(outcome.versions[item.id] == 2)
        #expect(try store.row(item.id)?.version == 2)
        #expect(try store.row(item.id)?.toOnes.contains { $0?.target == shelf.id } == false)
    }

    @Test func whoJoinsAnOrderComesLast() throws {
        let box = try row("Box")
        let items = try (0..<3).map { _ in try row(links: ["box": box.id]) }
        var order = ToManyChange(owner: box.id, slot: 0)
        order.order = items.map(\.id).reversed()
        try save {
            $0.inserts = [box] + items
            $0.toManys = [order]
        }
        let last = try row(links: ["box": box.id])
        try save { $0.inserts = [last] }
        let members = try store.members(of: box.id, toMany: 0).map(\.target)
        #expect(members == items.map(\.id).reversed() + [last.id])
    }

    @Test func rowsThatSortAlikeStayInTheOrderOfTheirKeys() throws {
        let rows = try (0..<5).map { try row(name: "a", rank: Int64($0)) }
        try save { $0.inserts = rows }
        var query = RowQuery(entity: item.number)
        query.sort = [NSSortDescriptor(key: "name", ascending: false)]
        #expect(try store.ids(matching: query) == rows.map(\.id))
        query.offset = 3
        #expect(try store.ids(matching: query) == rows.dropFirst(3).map(\.id))
    }

    /// A save that only deletes moves what is derived from the deleted.
    @Test func whatIsDerivedFollowsADeletion() throws {
        let count = NSDerivedAttributeDescription()
        count.name = "pageCount"
        count.attributeType = .integer64AttributeType
        count.derivationExpressionText = "pages.@count"
        let book = EverythingModel.entity("Book", [count])
        let page = EverythingModel.entity("Page", [])
        EverythingModel.link(book, "pages", .many, page, "book", .one)
        let model = NSManagedObjectModel()
        model.entities = [book, page]
        let library = MemoryRowStore(layout: ModelLayout(model: model))
        let (books, pages) = (
            try #require(library.layout.entity(named: "Book")),
            try #require(library.layout.entity(named: "Page"))
        )
        let novel = Row(id: RowID(entity: books.number, key: 1), layout: books)
        let sheets = (1...2).map { key in
            var row = Row(id: RowID(entity: pages.number, key: Int64(key)), layout: pages)
            row.toOnes[0] = Link(novel.id)
            return row
        }
        var changes = ChangeSet()
        changes.inserts = [novel] + sheets
        #expect(try library.save(changes).derivedValues[novel.id] == [0: .integer(2)])
        changes = ChangeSet()
        changes.deletes = [RowDelete(id: sheets[0].id)]
        #expect(try library.save(changes).derivedValues[novel.id] == [0: .integer(1)])
        #expect(try library.row(novel.id)?.attributes[0] == .integer(1))
    }
}
