"""Saturated stations of 802.11b in ns-3: `python wlan.py STATIONS SECONDS QUEUE [WORD ...]`; prints JSON.

Stations at one place send UDP datagrams of 1500 bytes with headers to one of them, at 11 Mbit/s with long preambles.
Two defaults of ns-3 are changed, unless a word keeps them:

* `lifetime`: the queue drops what has waited for 500 ms. The lifetime of the standard begins with the first attempt.
* `detection`: a preamble is detected only 4 dB above noise and interference. Frames of equal power that begin together
  are then not received with an error, but not at all, and nobody waits for EIFS after them. ns-3's own comparison with
  Bianchi's model (wifi-bianchi.cc) has no such detection either.

With the word `frames` the JSON has the start in us and the sender of each data frame. Run with a Python that has the
package ns3.
"""

import json
import sys
import time

import cppyy
from ns import ns

stations, seconds, queue, words = int(sys.argv[1]), float(sys.argv[2]), int(sys.argv[3]), sys.argv[4:]
BEGIN = 1.0

ns.Config.SetDefault("ns3::WifiMacQueue::MaxSize", ns.QueueSizeValue(ns.QueueSize(f"{queue}p")))
if "lifetime" not in words:
    ns.Config.SetDefault("ns3::WifiMacQueue::MaxDelay", ns.TimeValue(ns.Seconds(1e6)))
nodes = ns.NodeContainer()
nodes.Create(stations + 1)
phy = ns.YansWifiPhyHelper()
if "detection" not in words:
    phy.DisablePreambleDetectionModel()
phy.SetChannel(ns.YansWifiChannelHelper.Default().Create())
wifi = ns.WifiHelper()
wifi.SetStandard(ns.WIFI_STANDARD_80211b)
wifi.SetRemoteStationManager("ns3::ConstantRateWifiManager", "DataMode", ns.StringValue("DsssRate11Mbps"))
mac = ns.WifiMacHelper()
mac.SetType("ns3::AdhocWifiMac")
devices = wifi.Install(phy, mac, nodes)
mobility = ns.MobilityHelper()
mobility.SetMobilityModel("ns3::ConstantPositionMobilityModel")
mobility.Install(nodes)
ns.InternetStackHelper().Install(nodes)
addresses = ns.Ipv4AddressHelper()
addresses.SetBase(ns.Ipv4Address("10.0.0.0"), ns.Ipv4Mask("255.255.255.0"))
interfaces = addresses.Assign(devices)
# The queue of the link layer alone.
ns.TrafficControlHelper.Default().Uninstall(devices)
for number in range(stations):
    port = 1000 + number
    here = ns.InetSocketAddress(ns.Ipv4Address.GetAny(), port).ConvertTo()
    ns.PacketSinkHelper("ns3::UdpSocketFactory", here).Install(nodes.Get(0))
    client = ns.UdpClientHelper(ns.InetSocketAddress(interfaces.GetAddress(0), port).ConvertTo())
    # More than a station can send alone.
    client.SetAttribute("Interval", ns.TimeValue(ns.MicroSeconds(1800)))
    client.SetAttribute("MaxPackets", ns.UintegerValue(1 << 30))
    client.SetAttribute("PacketSize", ns.UintegerValue(1472))
    client.Install(nodes.Get(1 + number)).Start(ns.Seconds(BEGIN + 0.001 * number))
TRACE = """
#include <string>
#include <vector>
namespace trace {
std::vector<long long> frames;
std::vector<int> drops;
// A path begins with /NodeList/ and the number of the node.
void state(std::string path, ns3::Time start, ns3::Time duration, ns3::WifiPhyState state) {
    if (state == ns3::WifiPhyState::TX && duration == ns3::MicroSeconds(1310)) {
        frames.push_back(start.GetMicroSeconds());
        frames.push_back(std::stoi(path.substr(10)));
    }
}
void drop(std::string, ns3::WifiMacDropReason reason, ns3::Ptr<const ns3::WifiMpdu>) { drops.push_back(reason); }
void connect() {
    const std::string devices = "/NodeList/*/DeviceList/*/$ns3::WifiNetDevice/";
    ns3::Config::Connect(devices + "Phy/State/State", ns3::MakeCallback(&state));
    ns3::Config::Connect(devices + "Mac/DroppedMpdu", ns3::MakeCallback(&drop));
}
}
"""
if "frames" in words:
    cppyy.cppdef(TRACE)
    cppyy.gbl.trace.connect()
helper = ns.FlowMonitorHelper()
monitor = helper.InstallAll()
ns.Simulator.Stop(ns.Seconds(BEGIN + seconds))
start = time.process_time()
ns.Simulator.Run()
spent = time.process_time() - start
packets, delays = 0, 0.0
for pair in monitor.GetFlowStats():
    packets += pair[1].rxPackets
    delays += pair[1].delaySum.GetSeconds()
found = {"mbps": packets * 0.012 / seconds, "delay_ms": 1e3 * delays / packets, "cpu_s": spent}
if "frames" in words:
    flat, drops = list(cppyy.gbl.trace.frames), list(cppyy.gbl.trace.drops)
    found["frames"] = list(zip(flat[::2], flat[1::2], strict=True))
    found["expired"] = drops.count(int(ns.WIFI_MAC_DROP_EXPIRED_LIFETIME))
print(json.dumps(found))
