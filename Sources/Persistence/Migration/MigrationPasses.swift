internal import Foundation

/// The three passes of a migration: objects are made, then linked, then checked; each goes over all
/// mappings. New objects are written on the way where `writer` may.
struct MigrationPasses {
    private typealias Step = (mapping: NSEntityMapping, policy: NSEntityMigrationPolicy)

    private let manager: NSMigrationManager
    private let writer: DestinationWriter
    private let steps: [Step]

    /// Throws where a policy is not found.
    init(_ mappings: [NSEntityMapping], _ manager: NSMigrationManager, _ writer: DestinationWriter)
        throws
    {
        self.manager = manager
        self.writer = writer
        steps = Array(zip(mappings, try mappings.map(MigrationPolicies.policy)))
    }

    func run() throws {
        try createInstances()
        try createRelationships()
        try validate()
        try writer.finish()
        manager.work?.associations.settle(without: writer.takeDeleted())
        manager.note(progress: 1)
    }

    // MARK: Objects

    private func createInstances() throws {
        for (index, step) in steps.enumerated() {
            manager.work?.current = step.mapping
            try manager.checkCancellation()
            try step.policy.begin(step.mapping, with: manager)
            let objects = try SourceObjects(of: step.mapping, manager)
            for place in 0..<objects.count {
                try manager.checkCancellation()
                try step.policy.createDestinationInstances(
                    forSource: objects[place], in: step.mapping, manager: manager)
                note(pass: 0, index, Float(place + 1) / Float(objects.count))
                try write()
                if (place + 1).isMultiple(of: manager.batchSize) { letGoOfSource() }
            }
            letGoOfSource()
            try step.policy.endInstanceCreation(forMapping: step.mapping, manager: manager)
            try write()
            note(pass: 0, index, 1)
        }
    }

    private func write() throws {
        // Before rules count that a value breaks which could not be read.
        try manager.checkCancellation()
        guard try writer.writeIfFull() else { return }
        manager.work?.associations.settle(without: writer.takeDeleted())
    }

    private func letGoOfSource() { _ = manager.work?.source.letGo() }

    // MARK: Links

    private func createRelationships() throws {
        for (index, step) in steps.enumerated() {
            manager.work?.current = step.mapping
            try link(index, step)
            try step.policy.endRelationshipCreation(forMapping: step.mapping, manager: manager)
            try write()
            note(pass: 1, index, 1)
        }
    }

    /// Links what was made before; what a policy makes meanwhile is its own to link.
    private func link(_ index: Int, _ step: Step) throws {
        let isPlain = type(of: step.policy) == NSEntityMigrationPolicy.self
        if isPlain, (step.mapping.relationshipMappings ?? []).isEmpty { return }
        let name = step.mapping.name ?? ""
        let written = manager.work?.associations.writtenCount(name) ?? 0
        let others = manager.work?.associations.unwrittenMade(name) ?? []
        let reading = LinkReading(of: step.mapping, manager)
        var begin = 0
        var size = max(manager.batchSize / Self.endsPerRowMax, 1)
        while begin < written {
            let end = min(begin + size, written)
            let rows = manager.work?.associations.made(name, begin..<end) ?? []
            let (made, beside) = try reading.read(rows)
            try withExtendedLifetime(beside) { try link(made, step) }
            size = nextSize(rows.count, objects: made.count + beside.count)
            begin = end
            note(pass: 1, index, Float(end) / Float(written + others.count))
            // Not before: what was read for the batch would have to be read again.
            try write()
            letGoOfSource()
        }
        try link(others, step)
    }

    /// Links of a batch lead to so many objects for each row of a full one, at most.
    private static let endsPerRowMax = 10

    /// As many rows as bring about as many objects as a batch may have: a row with very many links
    /// counts for many.
    private func nextSize(_ rows: Int, objects: Int) -> Int {
        let most = manager.batchSize * Self.endsPerRowMax
        return min(max(most * max(rows, 1) / max(objects, 1), 1), manager.batchSize)
    }

    private func link(_ made: [NSManagedObject], _ step: Step) throws {
        for object in made {
            try manager.checkCancellation()
            try step.policy.createRelationships(
                forDestination: object, in: step.mapping, manager: manager)
        }
    }

    // MARK: Rules

    private func validate() throws {
        for (index, step) in steps.enumerated() {
            manager.work?.current = step.mapping
            try manager.checkCancellation()
            try step.policy.performCustomValidation(forMapping: step.mapping, manager: manager)
            try step.policy.end(step.mapping, manager: manager)
            try write()
            note(pass: 2, index, 1)
        }
        try manager.checkCancellation()
    }

    /// Making objects counts for a half of the way, linking for three tenths.
    private func note(pass: Int, _ index: Int, _ part: Float) {
        let ranges: [(start: Float, length: Float)] = [(0, 0.5), (0.5, 0.3), (0.8, 0.1)]
        let (start, length) = ranges[pass]
        manager.note(progress: start + length * (Float(index) + part) / Float(steps.count))
    }
}
