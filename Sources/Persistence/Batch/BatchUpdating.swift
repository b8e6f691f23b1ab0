internal import Foundation
internal import ObjectModel
internal import Predicates
internal import SQLiteStore
internal import Stores

/// A batch update in the stores' terms.
struct BatchUpdating {
    private let query: ObjectQuery
    private let assignments: [(attribute: String, value: BatchUpdate.Assignment)]
    private let links: [BatchLink]
    private let author: String?
    private let contextName: String?

    init(
        _ request: NSBatchUpdateRequest, of entity: NSEntityDescription,
        _ context: NSManagedObjectContext
    ) throws {
        var query = ObjectQuery(entity: entity)
        query.predicate = try request.predicate.map {
            try FetchExpressions.answered($0, in: context)
        }
        query.includesSubentities = request.includesSubentities
        self.query = query
        author = context.root.transactionAuthor
        contextName = context.root.name
        let shape = ObjectLayout.of(entity)
        var assignments: [(attribute: String, value: BatchUpdate.Assignment)] = []
        var links: [BatchLink] = []
        for (key, value) in request.propertiesToUpdate ?? [:] {
            if let link = try BatchLink(key.base, value, of: shape) {
                links.append(link)
            } else {
                assignments += try Self.assignments(key.base, value, shape)
            }
        }
        self.assignments = assignments.sorted { $0.attribute < $1.attribute }
        self.links = links.sorted { $0.name < $1.name }
    }

    // MARK: What is assigned

    private static func assignments(
        _ key: Any, _ value: Any, _ shape: ObjectLayout
    ) throws -> [(attribute: String, value: BatchUpdate.Assignment)] {
        let name = (key as? NSPropertyDescription)?.name ?? key as? String ?? "\(key)"
        switch shape.slot(name) {
        case .attribute(let slot): return [try assignment(slot, value, shape)]
        case .composite(let elements):
            let constant = (value as? Predicates.NSExpression)?.node.normalized
            var whole: Any? = value
            if case .constant(let held) = constant { whole = held }
            guard let given = elements.spread(whole) else { throw misfit(name, value, shape) }
            return try given.map { try assignment($0.slot, $0.value ?? NSNull(), shape) }
        case .toOne, .toMany:
            throw PersistenceErrors.unsupported(
                "Invalid relationship (\(name)) passed to propertiesToUpdate:")
        case .transient, .fetched, nil:
            throw PersistenceErrors.unsupported(
                "Invalid property (\(name)) passed to propertiesToUpdate:")
        }
    }

    private static func assignment(
        _ slot: Int, _ value: Any, _ shape: ObjectLayout
    ) throws -> (attribute: String, value: BatchUpdate.Assignment) {
        let place = shape.layout.attributes[slot]
        guard !(place.attribute is NSDerivedAttributeDescription) else {
            throw PersistenceErrors.unsupported(
                "Invalid property (\(place.name)) passed to propertiesToUpdate: (it is derived)")
        }
        var constant: Any? = value
        if let node = (value as? Predicates.NSExpression)?.node.normalized {
            guard case .constant(let held) = node else {
                try refuseAggregates(node, shape)
                return (place.name, .expression(node))
            }
            constant = held
        }
        guard let accepted = AttributeCoding.accept(constant, for: place.attribute) else {
            throw misfit(place.name, value, shape)
        }
        try check(accepted, of: place, shape.layout)
        return (place.name, .value(accepted))
    }

    /// What is computed of all rows together is no value of each.
    private static func refuseAggregates(_ node: ExpressionNode, _ shape: ObjectLayout) throws {
        guard AggregateCalls(of: shape.layout.entity).areIn(node) else { return }
        throw PersistenceErrors.unsupported("Unsupported function expression \(node)")
    }

    private static func misfit(_ name: String, _ value: Any, _ shape: ObjectLayout) -> NSError {
        PersistenceErrors.make(
            NSManagedObjectValidationError,
            "The property \"\(name)\" of \"\(shape.layout.name)\" cannot hold a value "
                + "of type \(type(of: value)).", [NSValidationKeyErrorKey: name])
    }

    // MARK: In stores

    /// The rows that were updated in each store.
    func run(
        in stores: BatchStores
    ) throws -> [(store: NSPersistentStore, ids: [NSManagedObjectID])] {
        guard !assignments.isEmpty || !links.isEmpty else { return [] }
        let shape = ObjectLayout.of(query.entity)
        let able = stores.all.filter { $0.layout(of: shape) != nil }
        if let store = able.first(where: \.isReadOnly) { throw PersistenceErrors.readOnly(store) }
        let batches = BatchStores(able)
        return try batches.writing {
            var updated: [(store: NSPersistentStore, ids: [NSManagedObjectID])] = []
            var changes: [(store: NSPersistentStore, changes: ChangeSet)] = []
            for store in batches.inWritingOrder {
                let batch = try batch(for: store)
                if let file = store.rowStore as? SQLiteRowStore {
                    updated.append((store, try update(batch, in: file).map(store.id)))
                } else {
                    changes.append((store, try self.changes(batch, in: store.rowStore)))
                }
            }
            for (store, changes) in changes where !changes.isEmpty {
                try store.rowStore.check(changes)
            }
            for (store, changes) in changes where !changes.isEmpty {
                _ = try store.rowStore.save(changes)
                updated.append((store, changes.updates.map { store.id(for: $0.id) }))
            }
            return updated
        }
    }

    private func batch(for store: NSPersistentStore) throws -> BatchUpdate {
        guard let layout = store.layout(of: ObjectLayout.of(query.entity)) else {
            throw PersistenceErrors.noStore(for: query.entity.name ?? "")
        }
        var rows = RowQuery(entity: layout.number)
        rows.includesSubentities = query.includesSubentities
        rows.predicate = PredicateTranslation(query).predicate(for: store)
        rows.transformed = TransformableCoding.decode
        var batch = BatchUpdate(rows: rows)
        batch.assignments = assignments
        batch.links = try links.map { ($0.name, try $0.row(in: store)) }
        batch.author = author
        batch.contextName = contextName
        return batch
    }

    private func update(_ batch: BatchUpdate, in file: SQLiteRowStore) throws -> [RowID] {
        do {
            try checkWidths(batch, in: file)
        } catch let error as StoreError where error.code == .unsupported {
            // No question for the store: then each row is looked at.
            return try saveRows(batch, in: file)
        }
        return try file.update(batch) ?? saveRows(batch, in: file)
    }

    /// Throws 1610 or 1620 where a statement would compute a number that its attribute has no room
    /// for. Cost: one question for each attribute of 16 or 32 bits that gets an expression.
    private func checkWidths(_ batch: BatchUpdate, in rowStore: any RowStore) throws {
        let layout = ObjectLayout.of(query.entity).layout
        for case let (name, .expression(node)) in batch.assignments {
            guard let place = layout.attributeSlot(name).map({ layout.attributes[$0] }),
                let bounds = AttributeCheck.integerBounds(of: place.attribute.attributeType)
            else { continue }
            for (bound, isBeyond) in [
                (bounds.lowerBound, ComparisonNode.Operator.lessThan),
                (bounds.upperBound, .greaterThan),
            ] {
                let beyond = PredicateNode.comparison(
                    ComparisonNode(
                        left: node, operator: isBeyond, right: .constant(Int(bound))))
                var wide = batch.rows
                wide.predicate = .and([batch.rows.predicate, beyond].compactMap(\.self))
                guard try rowStore.count(matching: wide) > 0 else { continue }
                // The bound's neighbour stands for what is beyond it.
                let first = isBeyond == .lessThan ? bound - 1 : bound + 1
                try Self.check(.integer(first), of: place, layout)
            }
        }
    }

    private static func check(
        _ value: AttributeValue, of place: EntityLayout.AttributeSlot, _ layout: EntityLayout
    ) throws {
        let complaint = AttributeCheck.complaint(aboutWidthOf: value, for: place.attribute)
        guard let complaint else { return }
        throw PersistenceErrors.invalid(place.name, of: layout.name, complaint)
    }

    private func saveRows(_ batch: BatchUpdate, in file: SQLiteRowStore) throws -> [RowID] {
        let changes = try changes(batch, in: file)
        guard !changes.isEmpty else { return [] }
        _ = try file.save(changes)
        return changes.updates.map(\.id)
    }

    private func changes(_ batch: BatchUpdate, in rowStore: any RowStore) throws -> ChangeSet {
        var columns = [ValueQuery.Column(name: "", expression: .evaluatedObject)]
        for case (let name, .expression(let node)) in batch.assignments {
            columns.append(.init(name: name, expression: node))
        }
        var changes = ChangeSet()
        changes.author = batch.author
        changes.contextName = batch.contextName
        for line in try rowStore.values(of: ValueQuery(rows: batch.rows, columns: columns)) {
            guard let row = line[0] as? RowID, let own = rowStore.layout.entity(row.entity) else {
                continue
            }
            var computed = line.dropFirst().makeIterator()
            var update = RowUpdate(id: row)
            for (name, assignment) in batch.assignments {
                guard let slot = own.attributeSlot(name) else { continue }
                let place = own.attributes[slot]
                switch assignment {
                case .value(let value): update.attributes.append((slot, value))
                case .expression:
                    let value = try Self.accept(computed.next() ?? nil, for: place.attribute)
                    try Self.check(value, of: place, own)
                    update.attributes.append((slot, value))
                }
            }
            for (name, target) in batch.links {
                guard let slot = own.toOneSlot(name) else { continue }
                update.toOnes.append((slot, target.map { Link($0) }))
            }
            changes.updates.append(update)
        }
        return changes
    }

    /// A computed value as the attribute keeps it.
    private static func accept(
        _ value: Any?, for attribute: NSAttributeDescription
    ) throws -> AttributeValue {
        guard let value else { return .null }
        let isBytes = attribute.attributeType == .transformableAttributeType
        let shown =
            isBytes
            ? (value as? Data).map { StoredBytes($0) as Any } ?? value
            : PresentedValue.present(value, as: attribute.attributeType)
        guard let accepted = AttributeCoding.accept(shown, for: attribute) else {
            throw StoreError(
                .invalidValue,
                "The new value of an attribute is not of its type; cast it or choose another.",
                fields: ["attribute": attribute.name])
        }
        return accepted
    }
}
