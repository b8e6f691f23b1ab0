import CoreData
import Foundation
import Testing

/// Reading through typed accessors is announced before and after, whatever the value is.
@Suite struct AccessNoticeTests {
    @Test func everyReadingBeginsAndEnds() throws {
        let entity = TestModel.entity("Watched", of: Watched.self)
        entity.properties = [TestModel.attribute("name", .stringAttributeType)]
        let model = NSManagedObjectModel()
        model.entities = [entity]
        let bench = try Bench(.memory, model: model)
        let object = Watched(entity: entity, insertInto: bench.context)
        for name in [nil, "a", nil] {
            object.name = name
            object.notices = []
            #expect(object.name == name)
            #expect(object.notices.count { $0 == "begin name" } >= 1)
            #expect(
                object.notices.count { $0 == "begin name" }
                    == object.notices.count { $0 == "end name" })
            #expect(object.notices.last == "end name")
        }
    }
}

private final class Watched: NSManagedObject {
    @Managed("name") var name: String?
    var notices: [String] = []

    override func willAccessValue(forKey key: String?) {
        notices.append("begin \(key ?? "")")
        super.willAccessValue(forKey: key)
    }

    override func didAccessValue(forKey key: String?) {
        notices.append("end \(key ?? "")")
        super.didAccessValue(forKey: key)
    }
}
