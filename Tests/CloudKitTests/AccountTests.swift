import CoreData
import Foundation
import MirrorEngine
import Testing

@testable import CloudKit

/// Stores whose user signs out, and stores that leave their container.
@Suite struct AccountTests {
    private let service: LocalService

    init() throws { service = try LocalService() }

    @Test func aStoreOfAnotherUserIsRefused() async throws {
        let ben = try service.user("ben")
        var first: Device? = try service.container("desk")
        try first?.write("mine")
        #expect(try await first?.container.sync() == true)
        first = nil
        let desk = try service.container("desk", of: ben.address)
        let phone = try service.container("phone", of: ben.address)
        try phone.write("Ben's")
        #expect(try await phone.container.sync())
        let error = await #expect(throws: CKError.self) { _ = try await desk.container.sync() }
        #expect(error?.code == .notAuthenticated)
        #expect(try desk.container.status(of: desk.store)?.isInSync == false)
        #expect(try await phone.container.sync())
        #expect(try phone.texts() == ["Ben's"])
        #expect(try desk.texts() == ["mine"])
        // Whoever wants it all the same says so.
        try desk.container.mirroredStore(of: desk.store)?.reset()
        #expect(try await desk.container.sync())
        #expect(try await phone.container.sync())
        #expect(try phone.texts() == ["Ben's", "mine"])
    }

    @Test func theNextUserOfAPlaceHasNothingOfTheFormer() async throws {
        let ben = try service.user("ben")
        let desk = try service.container("desk")
        try desk.write("mine")
        #expect(try await desk.container.sync())
        let former = desk.container.mirroredStore(of: desk.store)
        let url = try #require(desk.store.url)
        try desk.container.persistentStoreCoordinator.remove(desk.store)
        try desk.container.persistentStoreCoordinator.destroyPersistentStore(
            at: url, ofType: NSSQLiteStoreType)
        let options = desk.container.persistentStoreDescriptions[0].cloudKitContainerOptions
        options?.recordService = ben.address
        desk.container.loadPersistentStores { _, error in #expect(error == nil) }
        #expect(try await desk.container.sync())
        #expect(try desk.texts() == [])
        // What a round of the former mirror would still write finds no store.
        #expect(throws: MirrorError.self) { try former?.reset() }
        let phone = try service.container("phone", of: ben.address)
        #expect(try await phone.container.sync())
        #expect(try phone.texts() == [])
    }

    @Test func aRemovedStoreIsMirroredNoMore() async throws {
        let desk = try service.container("desk")
        #expect(try await desk.container.sync())
        let store = desk.store
        try desk.container.persistentStoreCoordinator.remove(store)
        #expect(desk.container.mirroredStore(of: store) == nil)
        #expect(try desk.container.status(of: store) == nil)
        #expect(try await !desk.container.sync())
    }

    @Test func whatIsNotMirroredIsNotEqual() async throws {
        let desk = try service.container("desk")
        #expect(try await desk.container.sync())
        let memory = NSPersistentStoreDescription()
        memory.type = NSInMemoryStoreType
        memory.cloudKitContainerOptions =
            desk.container.persistentStoreDescriptions[0].cloudKitContainerOptions
        desk.container.persistentStoreDescriptions = [memory]
        var failure: (any Error)?
        desk.container.loadPersistentStores { failure = $1 }
        #expect((failure as? CKError)?.code == .invalidArguments)
        #expect(try await !desk.container.sync())
        let coordinator = desk.container.persistentStoreCoordinator
        try coordinator.remove(try #require(coordinator.persistentStores.last))
        #expect(try await desk.container.sync())
    }
}
