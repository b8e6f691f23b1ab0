/// How far a model from a file may reach: beyond any real one, and small enough to work with.
///
/// A short file can ask for very much, since every heir of an entity has all of its properties.
struct ModelBounds {
    let file: String
    /// The properties of all entities so far, each with those it inherits.
    private var all = 0

    init(file: String) { self.file = file }

    /// How many entities may stand above one another.
    static let ancestorsMax = 100
    /// How many properties an entity may have, inherited ones included. SQLite's tables end at 2000
    /// columns.
    static let propertiesMax = 5_000
    /// How many properties all entities may have together, each with those it inherits.
    static let allPropertiesMax = 500_000
    /// How deep composites may nest.
    static let compositesMax = 16

    /// What is known of an entity with all its ancestors.
    private struct Reach {
        var properties = 0
        var ancestors = 0
    }

    /// Throws where entities inherit too far or too much; none may inherit from itself.
    mutating func check(_ entities: [NSEntityDescription]) throws {
        var known: [ObjectIdentifier: Reach] = [:]
        for entity in entities { try count(reach(of: entity, &known).properties) }
    }

    /// Counts the properties of one more entity, inherited ones included.
    mutating func count(_ properties: Int) throws {
        all += properties
        guard properties <= Self.propertiesMax, all <= Self.allPropertiesMax else {
            throw tooLarge("its entities have too many properties, inherited ones included")
        }
    }

    private func reach(
        of entity: NSEntityDescription, _ known: inout [ObjectIdentifier: Reach]
    ) throws -> Reach {
        var line: [NSEntityDescription] = []
        var reach = Reach()
        var current: NSEntityDescription? = entity
        while let ancestor = current {
            if let found = known[ObjectIdentifier(ancestor)] {
                reach = found
                break
            }
            line.append(ancestor)
            guard line.count <= Self.ancestorsMax else { throw tooDeep }
            current = ancestor.superentity
        }
        for ancestor in line.reversed() {
            reach.properties += ancestor.declaredProperties.count
            reach.ancestors += 1
            known[ObjectIdentifier(ancestor)] = reach
        }
        guard reach.ancestors <= Self.ancestorsMax else { throw tooDeep }
        return reach
    }

    var tooDeep: ModelFileError {
        tooLarge("its entities inherit over more than \(Self.ancestorsMax) steps")
    }

    private func tooLarge(_ what: String) -> ModelFileError {
        ModelFileError(.tooLarge, file: file, "the model is larger than any real one: \(what)")
    }
}

/// Counts the elements of composites while a model is read. Composites that hold others twice over
/// double with each step.
final class CompositeBudget {
    private var elements = 10_000

    /// False where there are more than any model has.
    func take(_ count: Int) -> Bool {
        elements -= count
        return elements >= 0
    }
}
