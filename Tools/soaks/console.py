"""Walks through the console of a record service in a headless Chromium.

usage: console.py DIPTYCH FOLDER    FOLDER takes the screenshots
"""

import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import urllib.request

from selenium import webdriver
from selenium.common.exceptions import StaleElementReferenceException
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import Select, WebDriverWait

from console_administration import Desk

CONTAINER = "iCloud.local.diptych"
WAIT_SECONDS = 20


class Service:
    """A service on a free port of the loopback, with some records of its first user."""

    def __init__(self, command, folder):
        self.command = command
        self.data = folder / "records"
        ready = folder / "ready.json"
        self.process = subprocess.Popen(
            [command, "serve", "--data", self.data, "--listen", "127.0.0.1:0", "--tls", "off",
             "--console", "on", "--container", CONTAINER, "--ready-file", ready],
            stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
        for _ in range(600):
            if ready.exists() and ready.read_text().endswith("\n"):
                break
            if self.process.poll() is not None:
                sys.exit("The service did not start.")
            signal.sigtimedwait([], 0.1)
        self.facts = json.loads(ready.read_text())
        self.url = self.facts["url"]

    def run(self, *words):
        subprocess.run([self.command, *words], check=True, capture_output=True)

    def administrator_token(self, folder):
        file = folder / "administrator.token"
        self.run("service", "tokens", "--data", self.data, "--administrator", "desk",
                 "--token-file", file)
        return file.read_text().strip()

    def tokens(self):
        """The tokens of the first user, by their names in the file."""
        text = pathlib.Path(self.facts["tokenFile"]).read_text()
        pairs = [line.split(":", 1) for line in text.splitlines() if ":" in line and line[0] != "#"]
        return {name.strip(): value.strip() for name, value in pairs}

    def post(self, operation, body):
        tokens = self.tokens()
        request = urllib.request.Request(
            f"{self.url}/database/1/{CONTAINER}/development/private/{operation}",
            data=json.dumps(body).encode(),
            headers={"X-Diptych-API-Token": tokens["api"],
                     "X-Diptych-User-Token": tokens["user"],
                     "Content-Type": "application/json"})
        with urllib.request.urlopen(request) as answer:
            return json.load(answer)

    def save(self, name, title):
        self.post("records/modify", {
            "zoneID": {"zoneName": "notes"},
            "operations": [{"operationType": "forceUpdate", "record": {
                "recordName": name, "recordType": "Note", "fields": {
                    "title": {"value": title, "type": "STRING"},
                    "views": {"value": 7, "type": "INT64"}}}}]})

    def fill(self):
        self.post("zones/modify", {"operations": [
            {"operationType": "create", "zone": {"zoneID": {"zoneName": "notes"}}}]})
        for number in range(60):
            self.save(f"note-{number:02}", f"Title {number}")
        # What a record holds is shown as text.
        self.post("records/modify", {
            "zoneID": {"zoneName": "notes"},
            "operations": [{"operationType": "create", "record": {
                "recordName": "cloudkit.zoneshare", "recordType": "cloudkit.share",
                "publicPermission": "READ_ONLY"}}]})
        self.save("hostile", "<img src=x onerror=document.title='owned'>")

    def sign_in(self, file):
        """A device that waits to be let in, with its code."""
        file.unlink(missing_ok=True)
        device = subprocess.Popen(
            [self.command, "sign-in", "--json", "--service", self.url, "--container", CONTAINER,
             "--name", "soak phone", "--token-file", file], stdout=subprocess.PIPE, text=True)
        device.code = json.loads(device.stdout.readline())["code"]
        return device

    def stop(self):
        self.process.terminate()
        self.process.wait(30)


class Browser:
    def __init__(self, folder, width=1280, dark=False):
        options = webdriver.ChromeOptions()
        options.binary_location = "/usr/bin/chromium"
        for word in ["--headless=new", "--no-sandbox", "--disable-gpu", f"--window-size={width},900"]:
            options.add_argument(word)
        if dark:
            options.add_argument("--force-dark-mode")
            options.add_argument("--blink-settings=preferredColorScheme=0")
        options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
        service = webdriver.ChromeService("/usr/bin/chromedriver")
        self.driver = webdriver.Chrome(options, service)
        # A headless window has a least width of its own; the page's is set here.
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {
            "width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 600})
        self.folder = folder

    def until(self, condition, what):
        # A view may be drawn anew between the search for an element and the look at it.
        wait = WebDriverWait(self.driver, WAIT_SECONDS,
                             ignored_exceptions=[StaleElementReferenceException])
        return wait.until(condition, what)

    def text(self):
        return self.driver.find_element(By.TAG_NAME, "body").text

    def until_text(self, text):
        self.until(lambda _: text in self.text(), f"'{text}' is not on the page")

    def press(self, title):
        path = f"//button[normalize-space()='{title}']"
        self.until(lambda driver: driver.find_elements(By.XPATH, path), f"no button {title}")
        self.click(self.driver.find_elements(By.XPATH, path)[-1])

    def click(self, button):
        """As who scrolls there first."""
        self.driver.execute_script("arguments[0].scrollIntoView({ block: 'nearest' })", button)
        button.click()

    def go(self, title):
        self.until(lambda driver: driver.find_elements(By.LINK_TEXT, title), f"no link {title}")
        self.driver.find_element(By.LINK_TEXT, title).click()
        self.until(lambda driver: driver.find_element(By.TAG_NAME, "h1").text != "", title)

    def sign_in(self, url, token):
        self.driver.get(url + "/console")
        self.until(lambda driver: driver.find_elements(By.NAME, "token"), "no form")
        # By keyboard alone.
        self.driver.find_element(By.NAME, "token").send_keys(token, Keys.ENTER)

    def shoot(self, name):
        self.driver.save_screenshot(str(self.folder / f"{name}.png"))

    def shoot_whole(self, name):
        """From the top of the page to its end."""
        height = self.driver.execute_script(
            "return document.getElementById('page').scrollHeight"
            " + document.getElementById('notice').offsetHeight")
        width = self.driver.execute_script("return window.innerWidth")
        size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600}
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
        self.shoot(name)
        size["height"] = 900
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)

    def expect_narrow(self, where):
        """The page itself never scrolls sideways."""
        wide = self.driver.execute_script(
            "return [document.documentElement, document.getElementById('page')]"
            ".some((each) => each.scrollWidth > each.clientWidth)")
        assert not wide, f"{where} is wider than the screen"

    def expect_uncovered(self, where):
        """Each button that is in the window can be clicked there."""
        covered = self.driver.execute_script("""
            const edge = document.getElementById("page").getBoundingClientRect().bottom;
            return [...document.querySelectorAll("main button")].filter((each) => {
                const box = each.getBoundingClientRect();
                const middle = [box.x + box.width / 2, box.y + box.height / 2];
                if (box.width === 0 || box.top < 0 || middle[1] >= edge) return false;
                const notice = document.getElementById("notice");
                return notice.contains(document.elementFromPoint(...middle));
            }).map((each) => each.textContent);
            """)
        assert not covered, f"what is told covers {covered} in {where}"

    def expect_quiet(self):
        """The browser complained of nothing but the first question who is signed in."""
        lines = [line["message"] for line in self.driver.get_log("browser")
                 if line["level"] in ("SEVERE", "WARNING") and "/api/session" not in line["message"]
                 and "/api/tokens" not in line["message"]]
        assert not lines, lines

    def quit(self):
        self.driver.quit()


def walk_as_administrator(service, token, folder):
    browser = Browser(folder)
    browser.sign_in(service.url, "dpt_wrong_token")
    browser.until_text("neither a user's nor an administrator's")
    browser.sign_in(service.url, token)
    browser.until_text("Requests a minute")
    browser.until_text(CONTAINER)
    browser.shoot("overview")

    browser.go("Records")
    browser.press("Open")
    browser.press("Find")
    browser.until_text("50 records")
    browser.press("More")
    browser.until_text("61 records")
    browser.shoot("records")
    field = Select(browser.driver.find_element(By.NAME, "field"))
    field.select_by_value("title")
    browser.driver.find_element(By.NAME, "value").send_keys("Title 7", Keys.ENTER)
    browser.until_text("1 record")
    browser.press("note-07")
    browser.until_text("title (STRING)")
    box = browser.driver.find_element(By.XPATH, "//label[contains(., 'title')]/input")
    box.clear()
    box.send_keys("Seven")
    browser.shoot("record")
    browser.press("Save")
    browser.press("Change")
    browser.until_text("The record is changed.")
    answer = service.post("records/lookup", {
        "zoneID": {"zoneName": "notes"}, "records": [{"recordName": "note-07"}]})
    assert answer["records"][0]["fields"]["title"]["value"] == "Seven", answer
    assert answer["records"][0]["fields"]["views"]["value"] == 7, answer

    browser.go("Changes")
    browser.press("Open")
    browser.press("Watch")
    browser.until_text("hostile")
    service.save("live", "while you watch")
    browser.until_text("live")
    browser.shoot("changes")
    assert browser.driver.title != "owned"

    browser.go("Shares")
    browser.press("Open")
    browser.until_text("the whole zone")
    browser.until_text("read only")
    browser.shoot("shares")

    browser.go("Schema")
    browser.press("Open")
    browser.until_text("views")
    browser.shoot("schema")

    device = service.sign_in(folder / "device.tokens")
    browser.go("Let a device in")
    browser.driver.find_element(By.NAME, "code").send_keys(device.code.lower(), Keys.ENTER)
    browser.until_text("soak phone")
    browser.shoot("device")
    browser.press("Let in")
    browser.until_text("The device is let in.")
    assert device.wait() == 0

    browser.go("Users and tokens")
    box = browser.driver.find_element(By.XPATH, "//label[contains(., 'Name')]/input")
    box.send_keys("Cleo", Keys.ENTER)
    browser.until_text("Cleo")
    browser.press("Quota")
    browser.driver.find_element(By.NAME, "recordsMax").send_keys("12345", Keys.ENTER)
    browser.until_text("of 12,345")
    browser.shoot("quotas")
    browser.driver.find_element(By.NAME, "label").send_keys("phone", Keys.ENTER)
    browser.until_text("Copy them now")
    browser.shoot("tokens")
    browser.press("Done")
    browser.until_text("phone")
    browser.press("Sign out")
    browser.until_text("You are signed out.")
    browser.driver.get(service.url + "/console#/people")
    browser.until_text("Token")
    assert "Cleo" not in browser.text()
    browser.expect_quiet()
    browser.quit()


def walk_through_administration(service, token, folder):
    browser = Browser(folder)
    browser.sign_in(service.url, token)
    browser.until_text("Requests a minute")
    desk = Desk(browser, service, CONTAINER)
    desk.person()
    desk.keys()
    desk.roles()
    desk.schema(folder)
    desk.storage()
    desk.audit()
    desk.look_at_all("wide-")
    desk.end_the_session()
    refused = "Failed to load resource"
    lines = [line["message"] for line in browser.driver.get_log("browser")
             if refused not in line["message"]]
    assert not lines, lines
    browser.quit()


def walk_by_keyboard(service, token, folder):
    browser = Browser(folder)
    browser.sign_in(service.url, token)
    browser.until_text("Requests a minute")
    reached = []
    browser.driver.execute_script("document.body.focus()")
    for _ in range(18):
        webdriver.ActionChains(browser.driver).send_keys(Keys.TAB).perform()
        reached.append(browser.driver.switch_to.active_element.text)
    for title in ["Overview", "Records", "Changes", "Shares", "Schema", "Let a device in", "Users and tokens",
                  "Keys", "Roles", "Storage", "Audit", "Sign out"]:
        assert title in reached, (title, reached)
    browser.quit()


def walk_narrow_and_dark(service, token, folder):
    browser = Browser(folder, width=360, dark=True)
    browser.sign_in(service.url, token)
    browser.until_text("Requests a minute")
    ground = browser.driver.execute_script("return getComputedStyle(document.body).backgroundColor")
    assert ground == "rgb(20, 24, 27)", ground
    for title in ["Overview", "Records", "Changes", "Shares", "Schema", "Let a device in", "Users and tokens"]:
        browser.go(title)
        browser.until(lambda driver: driver.find_element(By.TAG_NAME, "h1").text == title, title)
        browser.expect_narrow(title)
        browser.shoot("narrow-" + title.split()[0].lower())
        browser.driver.execute_script(
            "document.getElementById('notice').textContent = arguments[0]",
            "A refusal of several lines. " * 12)
        browser.expect_uncovered(title)
    desk = Desk(browser, service, CONTAINER)
    desk.look_at_all("narrow-")
    desk.look_at_dialogs("narrow-")
    browser.quit()


def walk_as_user(service, folder):
    token = service.tokens()["user"]
    browser = Browser(folder, width=360)
    browser.sign_in(service.url, token)
    browser.until_text("Your devices")
    assert "Users and tokens" not in browser.text()
    for title in ["Keys", "Roles", "Storage", "Audit"]:
        assert title not in browser.text(), title
    browser.expect_narrow("Devices")
    browser.shoot("devices")
    browser.go("Records")
    browser.press("Open")
    browser.press("Find")
    browser.until_text("records")
    browser.go("Schema")
    browser.press("Open")
    browser.until_text("views")
    assert "Of a container" not in browser.text()
    browser.go("Devices")
    browser.press("Sign out")
    browser.quit()


def main():
    command, folder = sys.argv[1], pathlib.Path(sys.argv[2])
    with tempfile.TemporaryDirectory(prefix="diptych-console-") as place:
        os.chmod(place, 0o700)
        service = Service(command, pathlib.Path(place))
        try:
            service.fill()
            token = service.administrator_token(pathlib.Path(place))
            for walk in [walk_as_administrator, walk_through_administration, walk_by_keyboard,
                         walk_narrow_and_dark]:
                walk(service, token, folder)
                print(walk.__name__.replace("_", " "), "passed")
            walk_as_user(service, folder)
            print("walk as user passed")
        finally:
            service.stop()
    print(f"The console passed; screenshots are in {folder}.")


main()
