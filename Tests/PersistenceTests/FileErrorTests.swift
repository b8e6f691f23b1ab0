import CoreData
import Foundation
import Testing

/// Which of Foundation's codes tell why a file is no store that can be opened: apps put a damaged
/// one aside by them, and begin anew.
@Suite struct FileErrorTests {
    private final class Folder {
        let url = FileManager.default.temporaryDirectory
            .appendingPathComponent("FileErrorTests-\(UUID().uuidString)")

        init() throws {
            try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
        }

        deinit { try? FileManager.default.removeItem(at: url) }
    }

    private static let files: [StoreKind] = StoreKind.allCases.filter { $0 != .memory }

    private func refusal(of kind: StoreKind, _ url: URL) throws -> NSError {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: TestModel.make())
        return try #require(throws: NSError.self) {
            try coordinator.addPersistentStore(
                ofType: kind.type, configurationName: nil, at: url)
        }
    }

    private func refusalOfMetadata(_ kind: StoreKind, _ url: URL) throws -> NSError {
        try #require(throws: NSError.self) {
            try NSPersistentStoreCoordinator.metadataForPersistentStore(ofType: kind.type, at: url)
        }
    }

    @Test(arguments: files)
    func aFileThatIsNoStoreIsCalledCorrupt(_ kind: StoreKind) throws {
        let folder = try Folder()
        let url = folder.url.appendingPathComponent("x")
        try Data(repeating: 65, count: 8192).write(to: url)
        for error in [try refusal(of: kind, url), try refusalOfMetadata(kind, url)] {
            #expect(error.domain == NSCocoaErrorDomain)
            #expect(error.code == CocoaError.fileReadCorruptFile.rawValue, "\(error)")
            #expect(error.userInfo[NSFilePathErrorKey] as? String == url.path)
            if kind == .sqlite { #expect(error.userInfo[NSSQLiteErrorDomain] as? Int == 26) }
        }
        let error = try #require(throws: NSError.self) {
            try NSPersistentStoreCoordinator.metadataForPersistentStore(with: url)
        }
        #expect(error.code == CocoaError.fileReadCorruptFile.rawValue)
    }

    @Test func aDamagedDatabaseIsCalledCorrupt() throws {
        let folder = try Folder()
        let url = folder.url.appendingPathComponent("x.sqlite")
        var bytes = Data("SQLite format 3\0".utf8)
        bytes.append(Data(repeating: 65, count: 8192))
        try bytes.write(to: url)
        let error = try refusal(of: .sqlite, url)
        #expect(error.domain == NSCocoaErrorDomain)
        #expect(error.code == CocoaError.fileReadCorruptFile.rawValue, "\(error)")
        #expect([11, 26].contains(error.userInfo[NSSQLiteErrorDomain] as? Int))
    }

    @Test(arguments: files)
    func metadataOfNoFileSaysSo(_ kind: StoreKind) throws {
        let folder = try Folder()
        let url = folder.url.appendingPathComponent("none")
        let error = try refusalOfMetadata(kind, url)
        #expect(error.domain == NSCocoaErrorDomain)
        #expect(error.code == CocoaError.fileReadNoSuchFile.rawValue)
        let other = try #require(throws: NSError.self) {
            try NSPersistentStoreCoordinator.metadataForPersistentStore(with: url)
        }
        #expect(other.code == CocoaError.fileReadNoSuchFile.rawValue)
    }

    @Test(arguments: files)
    func aFileThatMayNotBeReadSaysSo(_ kind: StoreKind) async throws {
        let folder = try Folder()
        chmod(folder.url.path, 0o777)
        let url = folder.url.appendingPathComponent("x")
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: TestModel.make())
        let store = try coordinator.addPersistentStore(
            ofType: kind.type, configurationName: nil, at: url)
        try coordinator.remove(store)
        chmod(url.path, 0)
        await #expect(processExitsWith: .success) {
            [path = url.path as String, type = kind.type as String] in
            if geteuid() == 0 { guard setuid(65534) == 0 else { exit(3) } }
            let coordinator = NSPersistentStoreCoordinator(managedObjectModel: TestModel.make())
            do {
                try coordinator.addPersistentStore(
                    ofType: type, configurationName: nil, at: URL(fileURLWithPath: path))
                exit(4)
            } catch {
                let error = error as NSError
                guard error.code == CocoaError.fileReadNoPermission.rawValue else { exit(5) }
            }
        }
    }

    /// A copy can be made of what lies where nothing can be written, and none put there.
    @Test(arguments: files)
    func aFolderThatMayNotBeWrittenCanBeCopiedFrom(_ kind: StoreKind) async throws {
        let folder = try Folder()
        let closed = folder.url.appendingPathComponent("closed")
        try FileManager.default.createDirectory(at: closed, withIntermediateDirectories: true)
        let url = closed.appendingPathComponent("x")
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: TestModel.make())
        let store = try coordinator.addPersistentStore(
            ofType: kind.type, configurationName: nil, at: url)
        try coordinator.remove(store)
        chmod(url.path, 0o666)
        chmod(closed.path, 0o555)
        chmod(folder.url.path, 0o777)
        defer { chmod(closed.path, 0o755) }
        await #expect(processExitsWith: .success) {
            [path = url.path as String, type = kind.type as String] in
            if geteuid() == 0 { guard setuid(65534) == 0 else { exit(3) } }
            let store = URL(fileURLWithPath: path)
            let copy = store.deletingLastPathComponent().deletingLastPathComponent()
                .appendingPathComponent("copy")
            let coordinator = NSPersistentStoreCoordinator(managedObjectModel: TestModel.make())
            try coordinator.replacePersistentStore(
                at: copy, withPersistentStoreFrom: store, ofType: type)
            try coordinator.addPersistentStore(
                ofType: type, configurationName: nil, at: copy)
            do {
                try coordinator.replacePersistentStore(
                    at: store.appendingPathExtension("new"), withPersistentStoreFrom: store,
                    ofType: type)
                exit(4)
            } catch {
                let codes = [NSPersistentStoreSaveError, NSPersistentStoreOpenError]
                let error = error as NSError
                guard codes.contains(error.code), error.localizedDescription.contains("access")
                else { exit(5) }
            }
        }
    }
}
