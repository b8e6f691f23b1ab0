import Foundation
import MirrorEngine
import Testing

/// The code that README.md shows is the code that is compiled, and does what it says.
@Suite struct ReadmeTests {
    @Test(arguments: [
        ("README.md", "ReadmeExample.swift"), ("docs/TESTING.md", "TestingExample.swift"),
        ("docs/SWIFT.md", "SwiftExample.swift"),
    ])
    func theShownCodeIsTheCompiledCode(document: String, source: String) throws {
        let code = try String(
            contentsOf: Document.root.appendingPathComponent("Tests/DocumentationTests/\(source)"),
            encoding: .utf8)
        let shown = try Document(document).blocks.filter { $0.language == "swift" }
        #expect(
            shown.contains { $0.text + "\n" == code },
            "The swift block of \(document) and \(source) differ; copy one into the other.")
    }

    @Test func twoDevicesSyncByTheExample() async throws {
        let service = try LocalService()
        func sync(_ pages: Int, _ title: String, on device: String) async throws -> SyncSummary {
            try await note(
                pages: pages, of: title, device: device,
                store: service.folder.appendingPathComponent("\(device)/Library.sqlite"),
                modelFile: Document.root.appendingPathComponent(
                    "Tools/demo-model/Library.xcdatamodel"),
                service: service.url, authority: service.authority,
                credentials: service.credentials)
        }
        let first = try await sync(474, "Emma", on: "desk")
        #expect(first.exported == 1 && first.imported == 0 && first.isInSync)
        let second = try await sync(341, "The Dispossessed", on: "phone")
        #expect(second.exported == 1 && second.imported == 1 && second.conflicts == 0)
        let third = try await sync(480, "Emma", on: "desk")
        #expect(third.exported == 1 && third.imported == 1)
        let clash = try await sync(499, "Emma", on: "phone")
        #expect(clash.exported == 0 && clash.merged == 1 && clash.conflicts == 1)
        #expect(clash.isInSync)
    }
}
