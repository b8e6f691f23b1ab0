internal import ObjectModel
internal import Stores

extension SchemaBuilder {
    /// Reads what each entity's derived attributes are computed from. What cannot be read stands
    /// in `schema.refusals`: new stores are not made then, and in others the column stays as it is.
    mutating func readDerivations() {
        for entity in layout.entities {
            let isOwn = ownNames(of: entity)
            for slot in entity.attributes {
                guard let derived = slot.attribute as? NSDerivedAttributeDescription else {
                    continue
                }
                do {
                    let derivation = try Derivation(of: derived, in: entity)
                    derivations[entity.number, default: [:]][slot.name] = derivation
                } catch {
                    if isOwn(slot.name) { refuse(entity, slot.name, error) }
                }
            }
        }
    }

    private mutating func refuse(_ entity: EntityLayout, _ name: String, _ error: any Error) {
        schema.refusals.append(error)
        note(entity, name, "\(error) The column stays as it is.")
    }

    /// The triggers that compute the derived attributes which one tree's entities declare.
    mutating func buildTriggers(of tree: [EntityLayout]) {
        for entity in tree {
            let isOwn = ownNames(of: entity)
            for slot in entity.attributes where isOwn(slot.name) {
                guard let derivation = derivations[entity.number]?[slot.name],
                    let column = attributes[entity.number]?[slot.name]?.name
                else { continue }
                let target = DerivedColumn(
                    table: tableName(of: entity), column: column, entity: entity.name,
                    attribute: slot.name)
                if let statements = triggers(of: target, derivation, in: entity) {
                    schema.triggers += statements
                    schema.computations += target.computation(in: statements).map { [$0] } ?? []
                } else {
                    note(
                        entity, slot.name,
                        "The store does not hold what this attribute is derived from; the column "
                            + "stays as it is.")
                }
            }
        }
    }

    /// No statements for what is computed where rows are written; nil where the other end is not
    /// in this store.
    private func triggers(
        of target: DerivedColumn, _ derivation: Derivation, in entity: EntityLayout
    ) -> [String]? {
        switch derivation {
        case .now, .text: return []
        case .path(let relationship, let attribute):
            guard let slot = entity.toOneSlot(relationship),
                let key = links[entity.number]?[relationship]?.key,
                let destination = destination(of: entity.toOnes[slot]),
                let source = attributes[destination.number]?[attribute]?.name
            else { return nil }
            return target.pathTriggers(key: key, parent: tableName(of: destination), source: source)
        case .aggregate(let function, let relationship, let attribute):
            guard let slot = entity.toManySlot(relationship),
                let destination = destination(of: entity.toManys[slot])
            else { return nil }
            var source: String?
            if let attribute {
                guard let column = attributes[destination.number]?[attribute] else { return nil }
                source = column.name
            }
            return triggers(
                of: target, function, source, over: place(of: entity.toManys[slot], entity))
        }
    }

    private func triggers(
        of target: DerivedColumn, _ function: Derivation.Aggregate, _ source: String?,
        over place: ToManyPlace
    ) -> [String]? {
        switch place {
        case .inverse(let members), .owned(let members):
            guard let source else {
                return target.countTriggers(child: members.table, key: members.key)
            }
            return target.memberTriggers(
                child: members.table, key: members.key, source: source, function)
        case .join(let side):
            return target.joinTriggers(side: side, source: source, function)
        case .absent: return nil
        }
    }
}
