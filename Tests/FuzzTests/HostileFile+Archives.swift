import CZlib
import Foundation
import FuzzTargets
import ObjectModel

extension HostileFile {
    static let archives: [HostileFile] = [
        HostileFile("an archive whose root is itself", .archive, .refused("damaged")) {
            var archive = ForgedArchive()
            let root = archive.reserve()
            archive.put("NSManagedObjectModel", [("NSEntities", archive.link(root))], at: root)
            return archive.data(root: root).dropLast(40) + Data(repeating: 0, count: 40)
        },
        HostileFile("a model whose entities are the model", .archive, .either) {
            var archive = ForgedArchive()
            let root = archive.reserve()
            archive.put("NSManagedObjectModel", [("NSEntities", archive.link(root))], at: root)
            return archive.data(root: root)
        },
        HostileFile("an entity that is its own parent", .archive, .refused("inherits from itself"))
        {
            var archive = ForgedArchive()
            let name = archive.plain(.string("A"))
            let entity = archive.reserve()
            archive.put(
                "NSEntityDescription",
                [("NSEntityName", archive.link(name)), ("NSSuperentity", archive.link(entity))],
                at: entity)
            return model(&archive, entities: [(name, entity)])
        },
        HostileFile("userInfo that holds itself", .archive, .either) {
            var archive = ForgedArchive()
            let name = archive.plain(.string("A"))
            let keys = (0..<40).map { archive.plain(.string("k\($0)")) }
            let info = archive.reserve()
            _ = archive.dictionary(keys.map { ($0, info) }, at: info)
            let entity = archive.put(
                "NSEntityDescription",
                [("NSEntityName", archive.link(name)), ("NSUserInfo", archive.link(info))])
            return model(&archive, entities: [(name, entity)])
        },
        HostileFile("one large group named 2,000 times", .archive, .refused("without end")) {
            var archive = ForgedArchive()
            let name = archive.plain(.string("A"))
            let text = archive.plain(.string("a"))
            let group = archive.put(
                "NSArray", [("NS.objects", archive.list(Array(repeating: text, count: 20_000)))])
            let groups = archive.put(
                "NSArray", [("NS.objects", archive.list(Array(repeating: group, count: 2_000)))])
            let entity = archive.put(
                "NSEntityDescription",
                [("NSEntityName", archive.link(name)), ("NSUniqueTuples", archive.link(groups))])
            return model(&archive, entities: [(name, entity)])
        },
        HostileFile("composites that hold each other", .archive, .refused("damaged")) {
            var archive = ForgedArchive()
            let name = archive.plain(.string("A"))
            let composite = archive.reserve()
            let elements = archive.put(
                "NSArray", [("NS.objects", archive.list([composite, composite]))])
            archive.put(
                "NSCompositeAttributeDescription",
                [
                    ("NSPropertyName", archive.link(name)),
                    ("NSAttributeType", archive.add(.integer(2100))),
                    ("NSCompositeElements", archive.link(elements)),
                ], at: composite)
            let properties = archive.dictionary([(name, composite)])
            let entity = archive.put(
                "NSEntityDescription",
                [("NSEntityName", archive.link(name)), ("NSProperties", archive.link(properties))])
            return model(&archive, entities: [(name, entity)])
        },
        HostileFile("relationships that count beyond numbers", .archive, .either) {
            var archive = ForgedArchive()
            let name = archive.plain(.string("A"))
            let relationship = archive.put(
                "NSRelationshipDescription",
                [
                    ("NSPropertyName", archive.link(name)),
                    ("NSMaxCount", archive.add(.integer(.max))),
                    ("NSMinCount", archive.add(.integer(.min))),
                ])
            let properties = archive.dictionary([(name, relationship)])
            let entity = archive.put(
                "NSEntityDescription",
                [("NSEntityName", archive.link(name)), ("NSProperties", archive.link(properties))])
            return model(&archive, entities: [(name, entity)])
        },
        HostileFile("fields of other types", .archive, .refused("has no name")) {
            var archive = ForgedArchive()
            let name = archive.plain(.real(.nan))
            let entity = archive.put(
                "NSEntityDescription", [("NSEntityName", archive.link(name))])
            return model(&archive, entities: [(name, entity)])
        },
        HostileFile("a packed model that unfolds to 400 MB", .archive, .refused("cannot be read")) {
            try packed(zeros: 400 << 20)
        },
        HostileFile("an editor's model that holds itself", .elements, .refused("damaged")) {
            var archive = ForgedArchive()
            let root = archive.reserve()
            let name = archive.plain(.string("A"))
            let bucket = archive.dictionary([(name, root), (name, root)])
            archive.put(
                "XDPMModel",
                [
                    ("_xd_rootPackage", archive.link(name)),
                    ("XDBucketForClassesstorage", archive.link(bucket)),
                ], at: root)
            return archive.data(root: root)
        },
    ]

    private static func model(_ archive: inout ForgedArchive, entities: [(Int, Int)]) -> Data {
        let all = archive.dictionary(entities)
        let root = archive.put("NSManagedObjectModel", [("NSEntities", archive.link(all))])
        return archive.data(root: root)
    }

    /// Zeros as a model cache packs its model.
    private static func packed(zeros: Int) throws -> Data {
        var stream = z_stream()
        guard diptych_deflate_init(&stream, 9, -15) == Z_OK else {
            throw CocoaError(.featureUnsupported)
        }
        defer { deflateEnd(&stream) }
        var input = [UInt8](repeating: 0, count: 1 << 20)
        var output = [UInt8](repeating: 0, count: 1 << 20)
        var result = Data()
        for round in 0..<(zeros >> 20) {
            let flush = round == (zeros >> 20) - 1 ? Z_FINISH : Z_NO_FLUSH
            let made = input.withUnsafeMutableBufferPointer { source in
                output.withUnsafeMutableBufferPointer { room in
                    stream.next_in = source.baseAddress
                    stream.avail_in = uInt(source.count)
                    stream.next_out = room.baseAddress
                    stream.avail_out = uInt(room.count)
                    _ = deflate(&stream, flush)
                    return room.count - Int(stream.avail_out)
                }
            }
            result.append(contentsOf: output[..<made])
        }
        return result
    }

    // MARK: Property lists

    static let propertyLists: [HostileFile] = [
        HostileFile("a list that holds itself", .plist, .refused("too far")) {
            ForgedArchive.plist([.array([0, 0, 0])], root: 0)
        },
        HostileFile("lists that double with each step", .plist, .refused("too far")) {
            ForgedArchive.plist((0..<40).map { .array([$0 + 1, $0 + 1]) } + [.bool(true)], root: 0)
        },
        HostileFile("lists nested 100,000 deep", .plist, .refused("too far")) {
            ForgedArchive.plist((0..<100_000).map { .array([$0 + 1]) } + [.bool(true)], root: 0)
        },
        HostileFile("a key that is a dictionary", .plist, .refused("key")) {
            ForgedArchive.plist([.dictionary([.init(key: 0, value: 0)])], root: 0)
        },
        HostileFile("a count of eight bytes of ones", .plist, .refused("longer than the file")) {
            trailer(after: [0xAF, 0x13] + [UInt8](repeating: 0xFF, count: 8))
        },
        HostileFile("a count of sixteen bytes", .plist, .refused("damaged")) {
            trailer(after: [0x5F, 0x14] + [UInt8](repeating: 0x7F, count: 16))
        },
        HostileFile("a count of 32,768 bytes", .plist, .refused("cut off")) {
            trailer(after: [0x5F, 0x1F, 0xFF])
        },
        HostileFile("a table of offsets past the end", .plist, .refused("trailer")) {
            trailer(after: [0x09], count: .max, table: 8)
        },
        HostileFile("a table that begins past the end", .plist, .refused("trailer")) {
            trailer(after: [0x09], count: 1, table: .max)
        },
        HostileFile("negative sizes", .plist, .refused("too large")) {
            trailer(after: [0x09], count: -1, table: -1)
        },
        HostileFile("an XML list nested 100,000 deep", .plist, .refused("damaged")) {
            text("<plist>" + many("<array>", 100_000))
        },
        HostileFile("an XML list with entities", .plist, .either) {
            text(
                "<!DOCTYPE plist [<!ENTITY a \"aaaaaaaaaaaaaaaa\"><!ENTITY b \"&a;&a;&a;&a;\">]>"
                    + "<plist><dict><key>&b;</key><string>&b;</string></dict></plist>")
        },
        HostileFile("words of the oldest form", .plist, .refused("neither binary nor XML")) {
            text("{" + many("a = (", 100_000))
        },
    ]

    /// A list of one object with a trailer that says `count` and `table`.
    private static func trailer(
        after object: [UInt8], count: Int = 1, table: Int? = nil
    ) -> Data {
        var bytes = Array("bplist00".utf8) + object
        let place = table ?? bytes.count
        bytes += [8, 0, 0, 0, 0, 0, 0, 1, 1]
        for number in [count, 0, place] {
            bytes += stride(from: 56, through: 0, by: -8).map {
                UInt8(truncatingIfNeeded: number >> $0)
            }
        }
        return Data(bytes)
    }
}
