import Foundation
import Testing

@testable import diptych

/// What `diptych model port` makes of sources.
@Suite struct PortTests {
    private func port(_ text: String) -> (text: String, port: SourcePort) {
        let port = SourcePort(Array(text.utf8))
        return (String(decoding: port.text, as: UTF8.self), port)
    }

    @Test(arguments: [
        (
            "@objc(Person)\npublic class Person: NSManagedObject {}",
            "public class Person: NSManagedObject {}"
        ),
        ("@objcMembers class A {}", "class A {}"),
        (
            "    @objc(addTodosObject:)\n    @NSManaged func addToTodos(_ v: T)\n",
            "    @NSManaged func addToTodos(_ v: T)\n"
        ),
        ("@objc dynamic var a = 1", "dynamic var a = 1"),
        ("let k = #keyPath(Person.boss.name)", "let k = \"boss.name\""),
        ("let k = #keyPath(App.Person.name)", "let k = \"name\""),
        ("let k = #keyPath(name)", "let k = \"name\""),
        ("f(\"\\(#keyPath(Car.plate)) == %@\")", "f(\"\\(\"plate\") == %@\")"),
        (
            "f(\"\"\"\n  \\(x)\n  \\(#keyPath(Car.plate))\n  \"\"\")",
            "f(\"\"\"\n  \\(x)\n  \\(\"plate\")\n  \"\"\")"
        ),
        ("f(#\"\\#(#keyPath(Car.plate)) \\(@objc)\"#)", "f(#\"\\#(\"plate\") \\(@objc)\"#)"),
        (
            "e.managedObjectClassName = NSStringFromClass(Schema.Book.self)",
            "e.managedObjectClassName = String(reflecting: Schema.Book.self)"
        ),
        (
            "d.setOption(FileProtectionType.complete as NSObject, forKey: k)",
            "d.setOption(FileProtectionType.complete.rawValue as NSObject, forKey: k)"
        ),
        (
            "s(key: k, selector: #selector(NSString.localizedStandardCompare(_:)))",
            "s(key: k, comparison: .localizedStandard)"
        ),
        (
            "let r = Person.fetchRequest() as! NSFetchRequest<Person>",
            "let r = Person.fetchRequest().returning(Person.self)"
        ),
        (
            "override init(entity: NSEntityDescription, insertInto context: C?) {}",
            "required init(entity: NSEntityDescription, insertInto context: C?) {}"
        ),
        (
            "convenience init(context: NSManagedObjectContext) {}",
            "required convenience init(context: NSManagedObjectContext) {}"
        ),
        (
            "import CoreData\nimport Foundation\nlet e: NSExpression",
            "import CoreData\nlet e: NSExpression"
        ),
    ])
    func sourcesAreRewritten(_ before: String, _ after: String) {
        #expect(port(before).text == after)
        let again = port(after)
        #expect(again.text == after)
        #expect(again.port.changes.isEmpty)
    }

    @Test(arguments: [
        "let s = \"@objc #keyPath(A.b)\" // @objc\n/* #keyPath(A.b) /* @objc */ */",
        "let s = #\"\"\"\n  @objc \"\"\" #keyPath(A.b)\n\"\"\"#",
        "let s = \"\\(f(\"#keyPath(A.b)\")) @objc\"",
        "let r = #/@objc \"/#",
        "import CoreData\nimport Foundation\nlet d = Date()",
        "convenience init(context: NSManagedObjectContext, name: String) {}",
        "let c = r.copy() as! NSFetchRequest<Person>",
        "\"unended @objc",
        "autoreleasepool { save() }",
        "let n = NSStringFromClass(type(of: object))",
        "let s = \"\\(f(\"\\\\(#keyPath(A.b))\"))\"",
    ])
    func whatIsNoCodeIsNeverTouched(_ text: String) {
        #expect(port(text).text == text)
    }

    @Test func whatIsLeftIsTold() {
        let text = """
            import Combine
            @objc(OldName) class Person: NSManagedObject {}
            let a = #selector(tapped)
            let b = x as? NSFetchRequest<Person>
            """
        let left = port(text).port.left
        #expect(left.map(\.line) == [1, 2, 3, 4])
        #expect(left[1].what == "@objc(OldName) class Person: name the class Person in the model")
    }

    @Test(arguments: ["Combine", "OSLog", "os", "os.log", "SwiftUI"])
    func modulesThatAreNotThereAreTold(_ name: String) {
        #expect(port("import CoreData\nimport \(name)\n").port.left.map(\.line) == [2])
    }

    @Test func whatIsNestedDeeperThanAnybodyWritesIsPassedOver() {
        let deep = String(repeating: "\"\\(", count: 50_000)
        #expect(port(deep).text == deep)
        let open = String(repeating: "\"\\(a + ", count: 8)
        let close = String(repeating: ")\"", count: 8)
        let nested = port("let x = \(open)#keyPath(A.b)\(close)\n@objc class C {}")
        #expect(nested.text == "let x = \(open)\"b\"\(close)\nclass C {}")
    }

    @Test func aLinkAndTheRightsOfAFileStay() throws {
        let workshop = try Workshop()
        let file = try workshop.write("@objc class A {}\n", to: "A.swift", mode: 0o750)
        let link = workshop.path("Link.swift")
        try FileManager.default.createSymbolicLink(
            atPath: link, withDestinationPath: "A.swift")
        try workshop.done(["model", "port", link])
        #expect(try String(contentsOfFile: file, encoding: .utf8) == "class A {}\n")
        let facts = try FileManager.default.attributesOfItem(atPath: file)
        #expect((facts[.posixPermissions] as? NSNumber)?.intValue == 0o750)
        #expect(try FileManager.default.destinationOfSymbolicLink(atPath: link) == "A.swift")
    }

    @Test func filesAreWrittenOnceAndOnlyWhereTheyChange() throws {
        let workshop = try Workshop()
        let folder = workshop.folder.appendingPathComponent("App")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let file = folder.appendingPathComponent("A.swift")
        try Data("@objc class A {}\n".utf8).write(to: file)
        try Data("class B {}\n".utf8).write(to: folder.appendingPathComponent("B.swift"))
        let trial = try workshop.done(["model", "port", folder.path, "--dry-run"])
        #expect(trial.output.contains("Would change 1 file of 2; 0 places left to you."))
        #expect(try String(contentsOf: file, encoding: .utf8) == "@objc class A {}\n")
        let json = try workshop.done(["model", "port", folder.path, "--json"]).json
        let files = json["files"] as? [[String: Any]] ?? []
        #expect(files.count == 1)
        #expect(files.first?["changed"] as? Bool == true)
        #expect(try String(contentsOf: file, encoding: .utf8) == "class A {}\n")
        let again = try workshop.done(["model", "port", folder.path])
        #expect(again.output.contains("Changed 0 files of 2"))
    }
}
