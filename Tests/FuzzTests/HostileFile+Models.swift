import Foundation
import FuzzTargets

extension HostileFile {
    private static func model(_ inside: String) -> Data {
        text("<?xml version=\"1.0\" encoding=\"UTF-8\"?><model>\(inside)</model>")
    }

    private static func entity(_ inside: String) -> Data {
        model("<entity name=\"A\">\(inside)</entity>")
    }

    static let models: [HostileFile] = [
        HostileFile("model nested 100,000 deep", .model, .refused("nests them deeper")) {
            text(many("<model>", 100_000))
        },
        HostileFile("model with entities that expand", .model, .refused("document type")) {
            text(
                "<!DOCTYPE m [<!ENTITY a \"aaaaaaaaaa\">"
                    + lines(20) { "<!ENTITY a\($0) \"&a\($0 - 1);&a\($0 - 1);\">" }
                    + "]><model><entity name=\"&a19;\"/></model>")
        },
        HostileFile("model that names another file", .model, .refused("document type")) {
            text(
                "<!DOCTYPE m [<!ENTITY f SYSTEM \"file:///etc/hostname\">]><model a=\"&f;\"/>")
        },
        HostileFile("an instruction without data", .model, .refused("processing instruction")) {
            model("<entity name=\"A\"/><!-- <?x?> --><?x?>")
        },
        HostileFile("an instruction before the model", .model, .refused("processing instruction")) {
            text("<?xml version=\"1.0\"?><?x?><model/>")
        },
        HostileFile("a declaration without data", .model, .refused("processing instruction")) {
            text("<?xml?><model/>")
        },
        HostileFile("model with half a million elements", .model, .refused("elements")) {
            model(many("<entity name=\"a\"/>", 500_000))
        },
        HostileFile("entities in a circle", .model, .refused("inherits from itself")) {
            model(
                "<entity name=\"A\" parentEntity=\"B\"/><entity name=\"B\" parentEntity=\"C\"/>"
                    + "<entity name=\"C\" parentEntity=\"A\"/>")
        },
        HostileFile("an heir of entities in a circle", .model, .refused("inherits from itself")) {
            model(
                "<entity name=\"X\" parentEntity=\"A\"/><entity name=\"A\" parentEntity=\"B\"/>"
                    + "<entity name=\"B\" parentEntity=\"A\"/>")
        },
        HostileFile("20,000 heirs in a line", .model, .refused("inherit over more than")) {
            model(
                lines(20_000) {
                    "<entity name=\"E\($0)\"" + ($0 == 0 ? "" : " parentEntity=\"E\($0 - 1)\"")
                        + "/>"
                })
        },
        HostileFile("3,000 heirs of 3,000 properties", .model, .refused("too many properties")) {
            model(
                "<entity name=\"P\">"
                    + lines(3_000) { "<attribute name=\"a\($0)\" attributeType=\"Date\"/>" }
                    + "</entity>"
                    + lines(3_000) { "<entity name=\"E\($0)\" parentEntity=\"P\"/>" })
        },
        HostileFile("composites that double with each step", .model, .refused("composite")) {
            let part = "attributeType=\"Composite\" composite="
            return model(
                "<entity name=\"A\"><attribute name=\"c\" \(part)\"C0\"/></entity>"
                    + lines(40) { step in
                        "<composite name=\"C\(step)\">"
                            + "<attribute name=\"a\" \(part)\"C\(step + 1)\"/>"
                            + "<attribute name=\"b\" \(part)\"C\(step + 1)\"/></composite>"
                    } + "<composite name=\"C40\"/>")
        },
        HostileFile("a composite inside itself", .model, .refused("contains itself")) {
            let part = "attributeType=\"Composite\" composite=\"C\""
            return model(
                "<entity name=\"A\"><attribute name=\"c\" \(part)/></entity>"
                    + "<composite name=\"C\"><attribute name=\"c\" \(part)/></composite>")
        },
        HostileFile("counts beyond numbers", .model, .either) {
            entity(
                "<relationship name=\"r\" destinationEntity=\"A\" toMany=\"YES\" "
                    + "maxCount=\"9223372036854775807\"/>")
        },
        HostileFile("values of other types", .model, .either) {
            entity(
                "<attribute name=\"a\" attributeType=\"Integer 16\" "
                    + "defaultValueString=\"70000\"/>")
        },
        HostileFile("a type that is none", .model, .refused("unknown type")) {
            entity("<attribute name=\"a\" attributeType=\"Banana\"/>")
        },
        HostileFile("a decimal of a million digits", .model, .either) {
            entity(
                "<attribute name=\"a\" attributeType=\"Decimal\" defaultValueString=\""
                    + many("9", 1_000_000) + "\"/>")
        },
        HostileFile("bytes that are no text", .model, .refused("UTF-8")) {
            text("<model><entity name=\"") + Data(repeating: 0xC3, count: 100)
                + text("\"/></model>")
        },
    ]
}
