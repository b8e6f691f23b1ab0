import Foundation
import ObjectModel
import Testing

@testable import ModelCompiler

@Suite struct ModelCompilationTests {
    let bench: Workbench

    init() throws { bench = try Workbench() }

    private func writeModel() throws -> String {
        let head = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<model>"
        for (name, extra) in [
            ("One", ""), ("Two", "<attribute name=\"n\" attributeType=\"URI\"/>"),
        ] {
            try bench.write(
                """
                \(head)<entity name="Book" representedClassName=".Book" codeGenerationType="class">
                <attribute name="title" attributeType="String"/>\(extra)
                </entity><entity name="Tag" representedClassName="Tag"/>
                <entity name="Far" representedClassName="Other.Far"/></model>
                """, to: "Shelf.xcdatamodeld/\(name).xcdatamodel/contents")
        }
        try bench.write(
            """
            <?xml version="1.0" encoding="UTF-8"?>
            <plist version="1.0"><dict><key>_XCCurrentVersionName</key>
            <string>Two.xcdatamodel</string></dict></plist>
            """, to: "Shelf.xcdatamodeld/.xccurrentversion")
        return bench.folder.appendingPathComponent("Shelf.xcdatamodeld").path
    }

    private func compilation(_ sources: [String]) throws -> ModelCompilation {
        let out = bench.folder.appendingPathComponent("out").path
        return try CompilerArguments.compilation(
            [
                "--module", "App", "--classes", "\(out)/Classes.swift",
                "--accessors", "\(out)/Accessors.swift", "--compiled", out,
                "--model", try writeModel(),
            ] + sources)
    }

    @Test func oneRunMakesClassesAccessorsAndTheModel() throws {
        let source = try bench.write(
            "import CoreData\nclass Tag: NSManagedObject { @NSManaged var a: Int64 }",
            to: "Tag.swift")
        try compilation([source]).run()
        let classes = try bench.read("out/Classes.swift")
        #expect(classes.contains("\nnonisolated public class Book: NSManagedObject {"))
        #expect(classes.contains("@NSManaged public var n: URL?"))
        let accessors = try bench.read("out/Accessors.swift")
        #expect(accessors.contains("$s3App4BookC5titleSSSgvg"))
        #expect(accessors.contains("$s3App3TagC1as5Int64Vvs"))
        let url = bench.folder.appendingPathComponent("out/Shelf.momd")
        let model = try NSManagedObjectModel.load(from: url)
        #expect(model.entitiesByName["Book"]?.attributesByName["n"] != nil)
        // Own classes get their module, others keep their names.
        #expect(model.entitiesByName["Book"]?.managedObjectClassName == "App.Book")
        #expect(model.entitiesByName["Tag"]?.managedObjectClassName == "App.Tag")
        #expect(model.entitiesByName["Far"]?.managedObjectClassName == "Other.Far")
        let first = try NSManagedObjectModel.load(from: url, version: "One")
        #expect(first.entitiesByName["Book"]?.attributesByName["n"] == nil)
    }

    @Test func nestedClassesGetTheirModuleToo() throws {
        let model = try bench.write(
            """
            <?xml version="1.0" encoding="UTF-8"?>
            <model><entity name="Page" representedClassName=".Book.Page"/>
            <entity name="Leaf" representedClassName=".Book.Leaf" codeGenerationType="class"/>
            <entity name="Far" representedClassName="Book.Page"/></model>
            """, to: "Nest.xcdatamodel/contents")
        let source = try bench.write(
            "import CoreData\nenum Book { class Page: NSManagedObject {} }", to: "Book.swift")
        let out = bench.folder.appendingPathComponent("out")
        try CompilerArguments.compilation([
            "--module", "App", "--classes", "\(out.path)/Classes.swift", "--compiled", out.path,
            "--model", (model as NSString).deletingLastPathComponent, source,
        ]).run()
        let compiled = try NSManagedObjectModel.load(from: out.appendingPathComponent("Nest.momd"))
        let names = compiled.entitiesByName.mapValues(\.managedObjectClassName)
        // Without the dot the first word is a module.
        #expect(names == ["Page": "App.Book.Page", "Leaf": "App.Book.Leaf", "Far": "Book.Page"])
    }

    @Test func nothingIsWrittenWhereAMemberIsRefused() throws {
        let source = try bench.write(
            "class Tag: NSManagedObject { @NSManaged var a: Color }", to: "Tag.swift")
        let compilation = try compilation([source])
        let error = #expect(throws: CompilerError.self) { try compilation.run() }
        #expect(error?.description.hasPrefix("\(source):1: error: the type “Color”") == true)
        let out = bench.folder.appendingPathComponent("out").path
        #expect(!FileManager.default.fileExists(atPath: out))
    }

    @Test func aBrokenModelIsReportedAtItsFile() throws {
        let model = try bench.write("<model><entity/></model>", to: "A.xcdatamodel/contents")
        let folder = (model as NSString).deletingLastPathComponent
        let compilation = try CompilerArguments.compilation(["--module", "App", "--model", folder])
        let error = #expect(throws: CompilerError.self) { try compilation.run() }
        #expect(error?.code == .model)
        #expect(error?.fields["file"] == folder)
    }

    /// A model of one entity, whose class is generated where `kind` says so.
    private func classes(
        _ kind: String, _ attribute: String, beside sources: [String]
    ) throws -> String {
        let model = try bench.write(
            """
            <?xml version="1.0" encoding="UTF-8"?>
            <model><entity name="Tag" representedClassName="Tag"\(kind)>
            <attribute name="a" attributeType="\(attribute)"/></entity></model>
            """, to: "Tags.xcdatamodel/contents")
        let paths = try sources.enumerated().map { number, text in
            try bench.write(text, to: "Source\(number).swift")
        }
        let out = bench.folder.appendingPathComponent("Classes.swift").path
        let arguments = [
            "--module", "App", "--classes", out,
            "--model", (model as NSString).deletingLastPathComponent,
        ]
        try CompilerArguments.compilation(arguments + paths).run()
        return try bench.read("Classes.swift")
    }

    private func imports(_ text: String) -> [String] {
        text.split(separator: "\n").map(String.init).filter { $0.contains("import ") }
    }

    private let generated = " codeGenerationType=\"class\""

    @Test func aModelWithoutClassesImportsNothing() throws {
        let text = try classes(
            "", "String",
            beside: ["internal import CoreData\ninternal import Foundation\n"])
        #expect(imports(text) == [])
    }

    @Test(arguments: [
        ("internal import Foundation", "String", "internal import Foundation"),
        ("fileprivate import FoundationEssentials", "String", "internal import Foundation"),
        ("import Foundation", "String", "import Foundation"),
        ("", "String", "import Foundation"),
        ("internal import Foundation", "URI", "public import Foundation"),
    ])
    func classesImportAsTheSourcesAllow(given: String, attribute: String, line: String) throws {
        let text = try classes(generated, attribute, beside: ["\(given)\nenum Other {}\n"])
        #expect(imports(text) == [line, "public import CoreData"])
    }

    @Test(
        .enabled(if: Workbench.hasTools, "swiftc and nm are absent"),
        arguments: ["", " codeGenerationType=\"class\""])
    func classesCompileBesideInternalImports(kind: String) throws {
        _ = try classes(
            kind, "String",
            beside: ["internal import CoreData\ninternal import Foundation\nenum Other {}\n"])
        try bench.write(
            """
            public import Foundation
            open class NSManagedObject: NSObject {}
            public final class NSFetchRequest<Result> { public init(entityName: String) {} }
            """, to: "CoreData.swift")
        try bench.run([
            "swiftc", "-emit-module", "-parse-as-library", "-module-name", "CoreData",
            "CoreData.swift",
        ])
        try bench.run([
            "swiftc", "-typecheck", "-parse-as-library", "-module-name", "App", "-I", ".",
            "Source0.swift", "Classes.swift",
        ])
    }

    @Test(arguments: [["--module"], ["--what", "x"], [], ["a.swift"]])
    func wrongArgumentsAreRefused(arguments: [String]) {
        let error = #expect(throws: CompilerError.self) {
            try CompilerArguments.compilation(arguments)
        }
        #expect(error?.code == .arguments)
    }
}
