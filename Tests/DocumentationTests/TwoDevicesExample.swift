import CoreData
import Foundation
import MirrorEngine
import MirrorTestKit
import MirrorTesting
import Testing

/// What two devices make of one book.
@Suite struct BookConflictTests {
    static let modelFile = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .appendingPathComponent("../../Tools/demo-model/Library.xcdatamodel")

    @Test(.twoDevices(model: { try NSManagedObjectModel.load(from: modelFile) }))
    func theDeviceThatMergesKeepsItsPages() throws {
        let devices = try #require(TwoDevices.current)
        try devices.first.edit { context in
            let book = NSEntityDescription.insertNewObject(forEntityName: "Book", into: context)
            book.setValue("Emma", forKey: "title")
            book.setValue(474, forKey: "pages")
        }
        try devices.settle()

        for (device, pages) in [(devices.first, 475), (devices.second, 476)] {
            let book = try #require(device.objects("Book", where: "title == 'Emma'").first)
            try device.edit { _ in book.setValue(pages, forKey: "pages") }
        }
        try devices.first.sync()
        try devices.second.sync()
        try devices.settle()

        let book = try #require(devices.first.objects("Book").first)
        let pages = devices.first.context.performAndWait { book.value(forKey: "pages") as? Int }
        #expect(pages == 476)
        #expect(try devices.second.store.conflicts().map(\.property) == ["pages"])
    }
}
